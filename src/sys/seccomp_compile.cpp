// SPDX-License-Identifier: Apache-2.0
#include "sys/seccomp.h"

#include <rapidjson/document.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "sys/error.h"
#include "sys/unique_fd.h"

namespace rookery::sys {

namespace {

using Context = std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, decltype(&seccomp_release)>;

[[noreturn]] void malformed(const std::string& what) { throw std::runtime_error("seccomp policy: " + what); }

void require(int result, const std::string& what) {
  if (result != 0) malformed(what + ": libseccomp error " + std::to_string(-result));
}

std::uint32_t action(const rapidjson::Value& entry, const char* action_key, const char* errno_key) {
  const auto found = entry.FindMember(action_key);
  if (found == entry.MemberEnd() || !found->value.IsString()) malformed(std::string("no ") + action_key);
  const std::string_view name(found->value.GetString(), found->value.GetStringLength());
  if (name == "SCMP_ACT_ALLOW") return SCMP_ACT_ALLOW;
  if (name == "SCMP_ACT_KILL_PROCESS") return SCMP_ACT_KILL_PROCESS;
  if (name == "SCMP_ACT_ERRNO") {
    const auto number = entry.FindMember(errno_key);
    if (number == entry.MemberEnd() || !number->value.IsUint() || number->value.GetUint() > 4095) malformed("no errno");
    return SCMP_ACT_ERRNO(number->value.GetUint());
  }
  malformed("unknown action " + std::string(name));
}

scmp_compare comparison(std::string_view name) {
  if (name == "SCMP_CMP_EQ") return SCMP_CMP_EQ;
  if (name == "SCMP_CMP_NE") return SCMP_CMP_NE;
  if (name == "SCMP_CMP_GE") return SCMP_CMP_GE;
  if (name == "SCMP_CMP_GT") return SCMP_CMP_GT;
  if (name == "SCMP_CMP_LE") return SCMP_CMP_LE;
  if (name == "SCMP_CMP_LT") return SCMP_CMP_LT;
  if (name == "SCMP_CMP_MASKED_EQ") return SCMP_CMP_MASKED_EQ;
  malformed("unknown comparison " + std::string(name));
}

// OCI: for SCMP_CMP_MASKED_EQ `value` is the mask and `valueTwo` what must remain.
std::vector<scmp_arg_cmp> conditions(const rapidjson::Value& entry) {
  std::vector<scmp_arg_cmp> result;
  const auto args = entry.FindMember("args");
  if (args == entry.MemberEnd()) return result;
  if (!args->value.IsArray()) malformed("args is no list");
  for (const auto& arg : args->value.GetArray()) {
    if (!arg.IsObject() || !arg.HasMember("index") || !arg["index"].IsUint() || !arg.HasMember("value") ||
        !arg["value"].IsUint64() || !arg.HasMember("op") || !arg["op"].IsString()) {
      malformed("an argument condition needs index, value and op");
    }
    scmp_arg_cmp condition{};
    condition.arg = arg["index"].GetUint();
    condition.op = comparison(arg["op"].GetString());
    condition.datum_a = arg["value"].GetUint64();
    if (arg.HasMember("valueTwo") && arg["valueTwo"].IsUint64()) condition.datum_b = arg["valueTwo"].GetUint64();
    result.push_back(condition);
  }
  return result;
}

Context make_context(std::uint32_t default_action, std::uint32_t architecture) {
  Context context(seccomp_init(default_action), &seccomp_release);
  if (!context) malformed("seccomp_init refused the default action");
  if (architecture != seccomp_arch_native()) {
    require(seccomp_arch_remove(context.get(), seccomp_arch_native()), "remove the own architecture");
    require(seccomp_arch_add(context.get(), architecture), "add architecture " + std::to_string(architecture));
  }
  require(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad-architecture action");
  require(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
  return context;
}

// What libseccomp writes to a descriptor, through a file in memory.
std::string exported(scmp_filter_ctx context, int (*write)(scmp_filter_ctx, int)) {
  UniqueFd file(check(::memfd_create("seccomp", MFD_CLOEXEC), "memfd_create"));
  require(write(context, file.get()), "export");
  struct stat info{};
  check(::fstat(file.get(), &info), "fstat a seccomp program");
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  if (::pread(file.get(), bytes.data(), bytes.size(), 0) != info.st_size) throw_errno("read a seccomp program");
  return bytes;
}

std::vector<sock_filter> export_program(scmp_filter_ctx context) {
  const std::string bytes = exported(context, &seccomp_export_bpf);
  std::vector<sock_filter> program(bytes.size() / sizeof(sock_filter));
  std::memcpy(program.data(), bytes.data(), program.size() * sizeof(sock_filter));
  return program;
}

// A policy as libseccomp holds it: the list of calls, and the refusals that depend on arguments.
struct Rules {
  Context calls;
  Context arguments;
  bool has_arguments = false;
  std::vector<std::string> unknown;
};

Rules read_rules(std::string_view oci_json, std::uint32_t architecture) {
  rapidjson::Document policy;
  policy.Parse(oci_json.data(), oci_json.size());
  if (policy.HasParseError() || !policy.IsObject()) malformed("not a JSON object");
  const std::uint32_t default_action = action(policy, "defaultAction", "defaultErrnoRet");
  const auto entries = policy.FindMember("syscalls");
  if (entries == policy.MemberEnd() || !entries->value.IsArray()) malformed("no syscalls list");

  Rules rules{make_context(default_action, architecture), make_context(SCMP_ACT_ALLOW, architecture), false, {}};
  for (const auto& entry : entries->value.GetArray()) {
    if (!entry.IsObject() || !entry.HasMember("names") || !entry["names"].IsArray()) malformed("an entry without names");
    const std::uint32_t entry_action = action(entry, "action", "errnoRet");
    const std::vector<scmp_arg_cmp> when = conditions(entry);
    const bool refuses_arguments = !when.empty() && entry_action != SCMP_ACT_ALLOW;
    rules.has_arguments |= refuses_arguments;
    for (const auto& name : entry["names"].GetArray()) {
      if (!name.IsString()) malformed("a name that is no string");
      const int there = seccomp_syscall_resolve_name_arch(architecture, name.GetString());
      if (there == __NR_SCMP_ERROR) {
        rules.unknown.emplace_back(name.GetString());
        continue;
      }
      if (there < 0) continue;  // a call of other architectures only
      if (!refuses_arguments && entry_action == default_action) continue;
      // libseccomp wants the number of the machine that compiles, and translates it.
      require(seccomp_rule_add_array(refuses_arguments ? rules.arguments.get() : rules.calls.get(), entry_action,
                                     seccomp_syscall_resolve_name(name.GetString()), static_cast<unsigned>(when.size()), when.data()),
              name.GetString());
    }
  }
  return rules;
}

}  // namespace

SeccompFilter SeccompFilter::compile(std::string_view oci_json) { return compile_for(oci_json, seccomp_arch_native()); }

SeccompFilter SeccompFilter::compile_for(std::string_view oci_json, std::uint32_t architecture) {
  Rules rules = read_rules(oci_json, architecture);
  SeccompFilter filter;
  filter.unknown_ = std::move(rules.unknown);
  filter.programs_.push_back(export_program(rules.calls.get()));
  if (rules.has_arguments) filter.programs_.push_back(export_program(rules.arguments.get()));
  return filter;
}

std::string SeccompFilter::pseudo_code(std::string_view oci_json) {
  const Rules rules = read_rules(oci_json, seccomp_arch_native());
  std::string text = exported(rules.calls.get(), &seccomp_export_pfc);
  if (rules.has_arguments) text += exported(rules.arguments.get(), &seccomp_export_pfc);
  return text;
}

}  // namespace rookery::sys
