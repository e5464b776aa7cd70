// SPDX-License-Identifier: Apache-2.0
#include "cli/policy.h"

#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "sys/seccomp.h"
#include "util/embedded.h"

namespace rookery::cli {

namespace {

constexpr std::string_view kPseudoCode = "--pseudo-code";

}  // namespace

int policy(const std::vector<std::string>& options) {
  std::string role;
  bool pseudo_code = false;
  for (const std::string& option : options) {
    if (option == kPseudoCode) {
      pseudo_code = true;
    } else if (role.empty()) {
      role = option;
    } else {
      throw std::invalid_argument("rookery policy prints one role at a time");
    }
  }
  const std::string_view json = util::embedded_file("policy/seccomp/" + (role.empty() ? "session" : role) + ".json");
  const std::string text = pseudo_code ? sys::SeccompFilter::pseudo_code(json) : std::string(json);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace rookery::cli
