// SPDX-License-Identifier: Apache-2.0
#include "policy_file.h"

#include <linux/seccomp.h>
#include <rapidjson/document.h>
#include <seccomp.h>

#include <algorithm>
#include <stdexcept>

#include "util/embedded.h"

namespace rookery::policy {

namespace {

constexpr int kX32Bit = 0x40000000;

std::uint32_t kernel_answer(const std::string& action, unsigned error) {
  if (action == "SCMP_ACT_ALLOW") return SECCOMP_RET_ALLOW;
  if (action == "SCMP_ACT_ERRNO") return SECCOMP_RET_ERRNO | error;
  throw std::runtime_error("a policy of rookery says neither allow nor errno: " + action);
}

}  // namespace

std::string_view policy_text(const std::string& role) { return util::embedded_file("policy/seccomp/" + role + ".json"); }

PolicyFile::PolicyFile(const std::string& role, std::uint32_t architecture) : architecture_(architecture) {
  rapidjson::Document file;
  const std::string_view text = policy_text(role);
  file.Parse(text.data(), text.size());
  default_answer_ = kernel_answer(file["defaultAction"].GetString(), file["defaultErrnoRet"].GetUint());
  for (const auto& entry : file["syscalls"].GetArray()) {
    Rule rule;
    rule.answer = kernel_answer(entry["action"].GetString(), entry.HasMember("errnoRet") ? entry["errnoRet"].GetUint() : 0);
    for (const auto& name : entry["names"].GetArray()) {
      const int number = seccomp_syscall_resolve_name_arch(architecture, name.GetString());
      if (number >= 0) rule.numbers.push_back(number);
    }
    if (entry.HasMember("args")) {
      for (const auto& arg : entry["args"].GetArray()) {
        rule.conditions.push_back({arg["index"].GetUint(), arg["op"].GetString(), arg["value"].GetUint64(),
                                   arg.HasMember("valueTwo") ? arg["valueTwo"].GetUint64() : 0});
      }
    }
    rules_.push_back(std::move(rule));
  }
}

bool PolicyFile::holds(const Condition& condition, const Arguments& arguments) {
  const std::uint64_t argument = arguments.at(condition.index);
  if (condition.op == "SCMP_CMP_EQ") return argument == condition.value;
  if (condition.op == "SCMP_CMP_NE") return argument != condition.value;
  if (condition.op == "SCMP_CMP_GE") return argument >= condition.value;
  if (condition.op == "SCMP_CMP_MASKED_EQ") return (argument & condition.value) == condition.value_two;
  throw std::runtime_error("a comparison that no policy of rookery uses: " + condition.op);
}

bool PolicyFile::matches(const Rule& rule, int number, const Arguments& arguments) {
  return std::find(rule.numbers.begin(), rule.numbers.end(), number) != rule.numbers.end() &&
         std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const Condition& one) { return holds(one, arguments); });
}

std::uint32_t PolicyFile::answer(std::uint32_t architecture, int number, const Arguments& arguments) const {
  if (architecture != architecture_) return SECCOMP_RET_KILL_PROCESS;
  if (architecture == SCMP_ARCH_X86_64 && (number & kX32Bit) != 0) return SECCOMP_RET_KILL_PROCESS;
  std::uint32_t answer = default_answer_;
  for (const Rule& rule : rules_) {
    const bool unconditional = rule.conditions.empty() || rule.answer == SECCOMP_RET_ALLOW;
    if (unconditional && matches(rule, number, arguments)) answer = rule.answer;
  }
  if (answer != SECCOMP_RET_ALLOW) return answer;
  for (const Rule& rule : rules_) {
    if (!rule.conditions.empty() && rule.answer != SECCOMP_RET_ALLOW && matches(rule, number, arguments)) return rule.answer;
  }
  return SECCOMP_RET_ALLOW;
}

std::vector<Arguments> PolicyFile::interesting(int number) const {
  std::vector<Arguments> found;
  for (const Rule& rule : rules_) {
    if (std::find(rule.numbers.begin(), rule.numbers.end(), number) == rule.numbers.end()) continue;
    for (const Condition& condition : rule.conditions) {
      const std::uint64_t border = condition.op == "SCMP_CMP_MASKED_EQ" ? condition.value_two : condition.value;
      for (const std::uint64_t value : std::initializer_list<std::uint64_t>{border, border - 1, border + 1, border | 1ull << 32, condition.value | 1ull << 63}) {
        Arguments arguments{};
        arguments.at(condition.index) = value;
        found.push_back(arguments);
      }
    }
  }
  return found;
}

}  // namespace rookery::policy
