// SPDX-License-Identifier: Apache-2.0
// Every system call number, on both architectures, in a machine of our own: the programs answer what the policy file says.
#include <doctest/doctest.h>
#include <seccomp.h>

#include <random>

#include "bpf_machine.h"
#include "policy_file.h"
#include "sys/seccomp.h"

using namespace rookery;

namespace {

constexpr int kLastNumber = 1023;
constexpr std::uint64_t kOnes = ~0ull;

std::uint32_t simulated(const sys::SeccompFilter& filter, std::uint32_t architecture, int number, const policy::Arguments& arguments) {
  seccomp_data data{};
  data.nr = number;
  data.arch = architecture;
  for (std::size_t i = 0; i < arguments.size(); ++i) data.args[i] = arguments[i];
  return policy::run_all(filter.programs(), data);
}

// Borders of single conditions, and a few hundred mixtures of them for calls with several.
std::vector<policy::Arguments> argument_lists(const policy::PolicyFile& file, int number, std::mt19937_64& random) {
  std::vector<policy::Arguments> lists = file.interesting(number);
  const std::size_t borders = lists.size();
  for (std::size_t mixture = 0; borders > 0 && mixture < 300; ++mixture) {
    policy::Arguments mixed{};
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = lists[random() % borders][i];
    lists.push_back(mixed);
  }
  lists.push_back({});
  lists.push_back({kOnes, kOnes, kOnes, kOnes, kOnes, kOnes});
  return lists;
}

void compare(const std::string& role, std::uint32_t architecture) {
  const policy::PolicyFile file(role, architecture);
  const auto filter = sys::SeccompFilter::compile_for(policy::policy_text(role), architecture);
  CHECK(filter.unknown_names().empty());
  std::mt19937_64 random(7);
  std::size_t allowed = 0;
  for (int number = 0; number <= kLastNumber; ++number) {
    for (const policy::Arguments& arguments : argument_lists(file, number, random)) {
      CAPTURE(role);
      CAPTURE(number);
      CAPTURE(arguments[0]);
      CAPTURE(arguments[1]);
      CAPTURE(arguments[2]);
      const std::uint32_t answer = simulated(filter, architecture, number, arguments);
      allowed += answer == SECCOMP_RET_ALLOW ? 1 : 0;
      REQUIRE(answer == file.answer(architecture, number, arguments));
    }
  }
  CHECK(allowed > 20);
}

}  // namespace

TEST_CASE("simulated: x86-64 answers every call as its policy file says") {
  for (const char* role : policy::kRoles) compare(role, SCMP_ARCH_X86_64);
}

TEST_CASE("simulated: aarch64 answers every call as its policy file says") {
  for (const char* role : policy::kRoles) compare(role, SCMP_ARCH_AARCH64);
}

TEST_CASE("simulated: a call of another ABI ends the process, whatever its number") {
  for (const char* role : policy::kRoles) {
    for (const std::uint32_t own : std::initializer_list<std::uint32_t>{SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64}) {
      const auto filter = sys::SeccompFilter::compile_for(policy::policy_text(role), own);
      for (const std::uint32_t foreign : std::initializer_list<std::uint32_t>{SCMP_ARCH_X86, SCMP_ARCH_ARM, SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64, SCMP_ARCH_RISCV64}) {
        if (foreign == own) continue;
        for (int number = 0; number <= kLastNumber; ++number) REQUIRE(simulated(filter, foreign, number, {}) == SECCOMP_RET_KILL_PROCESS);
      }
      if (own != SCMP_ARCH_X86_64) continue;
      for (int number = 0; number <= kLastNumber; ++number) {
        REQUIRE(simulated(filter, own, 0x40000000 | number, {}) == SECCOMP_RET_KILL_PROCESS);
      }
    }
  }
}

TEST_CASE("the pseudo code names the calls that a policy allows") {
  const std::string text = sys::SeccompFilter::pseudo_code(policy::policy_text("supervisor"));
  CHECK(text.find("filter for syscall \"unlinkat\"") != std::string::npos);
  CHECK(text.find("filter for syscall \"openat\"") == std::string::npos);
  CHECK(text.find("action KILL_PROCESS") != std::string::npos);
}
