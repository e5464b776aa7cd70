// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rookery::sys {

// A seccomp policy in the OCI runtime-spec format ("linux.seccomp"), compiled to programs that the kernel
// can load without further help. An allowlist becomes one program. Entries that refuse a call only for some
// arguments become a second one: the kernel runs both and the stricter answer wins (seccomp(2)), which is how
// "allowed, but not with these arguments" is said without order-dependent rules.
class SeccompFilter {
 public:
  // Compiles for the machine's own architecture; any other ABI kills the process.
  // Throws std::runtime_error for a policy that is not well-formed. A call that this libseccomp does not know is
  // left to the default action and reported in unknown_names().
  static SeccompFilter compile(std::string_view oci_json);

  // The same for another machine's architecture, a token of libseccomp (SCMP_ARCH_AARCH64 …), to look at here.
  static SeccompFilter compile_for(std::string_view oci_json, std::uint32_t architecture);

  // The programs of compile() as libseccomp's pseudo code, for people: seccomp_export_pfc(3). Throws as compile() does.
  static std::string pseudo_code(std::string_view oci_json);

  // Loads the programs into the calling thread, which must have set no_new_privs. Async-signal-safe.
  // Returns 0, or -1 with errno set.
  [[nodiscard]] int load() const noexcept;

  // Programs that compile() made in another process, e.g. for an extension module that cannot link libseccomp.
  // Throws std::runtime_error when `bytes` is not what serialise() gave.
  static SeccompFilter deserialise(std::string_view bytes);
  [[nodiscard]] std::string serialise() const;

  [[nodiscard]] const std::vector<std::string>& unknown_names() const noexcept { return unknown_; }
  [[nodiscard]] const std::vector<std::vector<sock_filter>>& programs() const noexcept { return programs_; }

 private:
  std::vector<std::vector<sock_filter>> programs_;
  std::vector<std::string> unknown_;
};

}  // namespace rookery::sys
