// SPDX-License-Identifier: Apache-2.0
#include "sys/seccomp.h"

#include <rapidjson/document.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

Context make_context(std::uint32_t default_action) {
  Context context(seccomp_init(default_action), &seccomp_release);
  if (!context) malformed("seccomp_init refused the default action");
  require(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "bad-architecture action");
  require(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
  return context;
}

std::vector<sock_filter> export_program(scmp_filter_ctx context) {
  UniqueFd file(check(::memfd_create("seccomp", MFD_CLOEXEC), "memfd_create"));
  require(seccomp_export_bpf(context, file.get()), "export");
  struct stat info{};
  check(::fstat(file.get(), &info), "fstat a seccomp program");
  std::vector<sock_filter> program(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<std::size_t>(info.st_size), 0) != info.st_size) {
    throw_errno("read a seccomp program");
  }
  return program;
}

}  // namespace

SeccompFilter SeccompFilter::compile(std::string_view oci_json) {
  rapidjson::Document policy;
  policy.Parse(oci_json.data(), oci_json.size());
  if (policy.HasParseError() || !policy.IsObject()) malformed("not a JSON object");
  const std::uint32_t default_action = action(policy, "defaultAction", "defaultErrnoRet");
  const auto entries = policy.FindMember("syscalls");
  if (entries == policy.MemberEnd() || !entries->value.IsArray()) malformed("no syscalls list");

  SeccompFilter filter;
  Context calls = make_context(default_action);
  Context arguments = make_context(SCMP_ACT_ALLOW);
  bool has_arguments = false;
  for (const auto& entry : entries->value.GetArray()) {
    if (!entry.IsObject() || !entry.HasMember("names") || !entry["names"].IsArray()) malformed("an entry without names");
    const std::uint32_t entry_action = action(entry, "action", "errnoRet");
    const std::vector<scmp_arg_cmp> when = conditions(entry);
    const bool refuses_arguments = !when.empty() && entry_action != SCMP_ACT_ALLOW;
    has_arguments |= refuses_arguments;
    for (const auto& name : entry["names"].GetArray()) {
      if (!name.IsString()) malformed("a name that is no string");
      const int number = seccomp_syscall_resolve_name(name.GetString());
      if (number == __NR_SCMP_ERROR) {
        filter.unknown_.emplace_back(name.GetString());
        continue;
      }
      if (number < 0) continue;  // a call of other architectures only
      if (!refuses_arguments && entry_action == default_action) continue;
      require(seccomp_rule_add_array(refuses_arguments ? arguments.get() : calls.get(), entry_action, number,
                                     static_cast<unsigned>(when.size()), when.data()),
              name.GetString());
    }
  }
  filter.programs_.push_back(export_program(calls.get()));
  if (has_arguments) filter.programs_.push_back(export_program(arguments.get()));
  return filter;
}

}  // namespace rookery::sys
