// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rookery::policy {

using Arguments = std::array<std::uint64_t, 6>;

// What a policy file says, read without the code that compiles it. Answers are the kernel's: SECCOMP_RET_….
class PolicyFile {
 public:
  // Of a role, from the files built into the tests. `architecture` is a token of libseccomp, which is the kernel's AUDIT_ARCH_…
  PolicyFile(const std::string& role, std::uint32_t architecture);

  [[nodiscard]] std::uint32_t answer(std::uint32_t architecture, int number, const Arguments& arguments) const;

  // Arguments at and around the borders of every condition on this call; none for a call without conditions.
  [[nodiscard]] std::vector<Arguments> interesting(int number) const;

 private:
  struct Condition {
    unsigned index;
    std::string op;
    std::uint64_t value, value_two;
  };
  struct Rule {
    std::vector<int> numbers;
    std::uint32_t answer;
    std::vector<Condition> conditions;
  };

  static bool holds(const Condition& condition, const Arguments& arguments);
  static bool matches(const Rule& rule, int number, const Arguments& arguments);

  std::uint32_t architecture_;
  std::uint32_t default_answer_;
  std::vector<Rule> rules_;
};

// The JSON text of a role's policy.
std::string_view policy_text(const std::string& role);

inline constexpr std::array kRoles = {"session", "server", "supervisor", "warden", "zygote"};

}  // namespace rookery::policy
