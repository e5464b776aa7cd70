// SPDX-License-Identifier: Apache-2.0
// Every system call number with harmless bad arguments, in a child under the real filter: what the policy refuses fails with
// its errno, and what it allows ends as it does without a filter.
#include <doctest/doctest.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include <map>

#include "attempt.h"
#include "policy_file.h"

using namespace rookery;
using policy::Arguments;
using policy::Outcome;

namespace {

// Beyond the highest number of any kernel so far, and numbers that no kernel has.
std::vector<int> numbers() {
  std::vector<int> all;
  for (int number = 0; number <= 600; ++number) all.push_back(number);
  all.insert(all.end(), {1000, 4095, 0x3fffffff});
  return all;
}

constexpr std::uint64_t kBad = ~0ull;  // no descriptor, no process, no address, and every flag at once

Arguments bad_arguments(int number) {
  // With every flag this one would make a message queue.
  if (number == SYS_msgget) return {1, 0, 0, 0, 0, 0};
  return {kBad, kBad, kBad, kBad, kBad, kBad};
}

// Since Linux 6.14 the kernel serves these traps of its own probes before it asks a filter (kernel/seccomp.c), and refuses or ends
// whoever calls them from anywhere else.
bool passes_every_filter([[maybe_unused]] int number) {
#ifdef __x86_64__
  return number == 335 || number == 336;  // uretprobe, uprobe
#else
  return false;
#endif
}

const Outcome& unfiltered(int number, const Arguments& arguments) {
  static std::map<std::pair<int, Arguments>, Outcome> known;
  const auto [found, fresh] = known.try_emplace({number, arguments});
  if (fresh) found->second = policy::attempt(nullptr, number, arguments);
  return found->second;
}

Outcome expected(std::uint32_t answer, int number, const Arguments& arguments) {
  if (answer == SECCOMP_RET_ALLOW) return unfiltered(number, arguments);
  if (answer == SECCOMP_RET_KILL_PROCESS) return {Outcome::Kind::kKilledByFilter, 0};
  return {Outcome::Kind::kFailed, static_cast<int>(answer & SECCOMP_RET_DATA)};
}

void compare(const std::string& role) {
  const std::uint32_t own = seccomp_arch_native();
  const policy::PolicyFile file(role, own);
  const auto filter = sys::SeccompFilter::compile(policy::policy_text(role));
  for (const int number : numbers()) {
    std::vector<Arguments> lists = file.interesting(number);
    lists.push_back(bad_arguments(number));
    for (const Arguments& arguments : lists) {
      const std::uint32_t answer = file.answer(own, number, arguments);
      // Conditions were simulated with all their borders; here only what they refuse is tried.
      if (answer == SECCOMP_RET_ALLOW && arguments != bad_arguments(number)) continue;
      CAPTURE(role);
      CAPTURE(number);
      CAPTURE(arguments[0]);
      CAPTURE(arguments[1]);
      CAPTURE(answer);
      const Outcome seen = policy::attempt(&filter, number, arguments);
      if (passes_every_filter(number) && seen == unfiltered(number, arguments)) continue;
      const Outcome wanted = expected(answer, number, arguments);
      CHECK(static_cast<int>(seen.kind) == static_cast<int>(wanted.kind));
      CHECK(seen.error == wanted.error);
    }
  }
}

}  // namespace

TEST_CASE("native: the session's filter answers as its policy file says") { compare("session"); }
TEST_CASE("native: the server's filter answers as its policy file says") { compare("server"); }
TEST_CASE("native: the supervisor's filter answers as its policy file says") { compare("supervisor"); }
TEST_CASE("native: the token reader's filter answers as its policy file says") { compare("token-reader"); }
TEST_CASE("native: the warden's filter answers as its policy file says") { compare("warden"); }
TEST_CASE("native: the zygote's filter answers as its policy file says") { compare("zygote"); }

#ifdef __x86_64__
TEST_CASE("native: a call of the x32 ABI ends the process") {
  for (const char* role : policy::kRoles) {
    const auto filter = sys::SeccompFilter::compile(policy::policy_text(role));
    for (const int number : {0, 1, 39, 60, 512, 547}) {
      CHECK(policy::attempt(&filter, 0x40000000 | number, {}).kind == Outcome::Kind::kKilledByFilter);
    }
  }
}
#endif
