// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/types.h"

// JSON codec of the contract. Parsing is strict: UTF-8, depth <= 64, no NUL and no lone surrogate in any
// string that becomes an id, a path, a tool name or a command, duplicate keys refused in known fields;
// unknown fields are ignored. Nothing here throws for bad input.
namespace rookery::contract {

// `body` may be empty (no body at all).
[[nodiscard]] Parsed<CreateSessionRequest> parse_create_session(std::string_view body);
// Of a request that has no field: nothing, null or any object.
[[nodiscard]] Parsed<std::monostate> parse_no_fields(std::string_view body);
[[nodiscard]] Parsed<ExecRequest> parse_exec(std::string_view body);

[[nodiscard]] std::string to_json(const SessionHandle& handle);
[[nodiscard]] std::string to_json(const SessionStatus& status);
// {"sessions": [...], "next": N}; no `next` on the last page.
[[nodiscard]] std::string to_json(const std::vector<SessionStatus>& sessions, std::optional<std::uint64_t> next);
// The exec response: {tool_use_id, result_block, execution_time_ms, ...additive}.
[[nodiscard]] std::string to_json(const ExecRequest& request, const CallOutcome& outcome);
[[nodiscard]] std::string to_json(const std::vector<FileMetadata>& files, bool truncated = false);
[[nodiscard]] std::string upload_result_json(std::string_view path, std::uint64_t size_bytes);
// {"detail": "..."}
[[nodiscard]] std::string error_json(std::string_view detail);
// {"detail": [{loc, msg, type}]}
[[nodiscard]] std::string error_json(const std::vector<FieldError>& errors);

// `srvtoolu_` + 24 random hex digits.
[[nodiscard]] std::string new_tool_use_id();

}  // namespace rookery::contract
