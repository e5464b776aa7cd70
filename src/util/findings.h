// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What `rookery check` found at the start, on its way from the supervisor to the server's status page.
namespace rookery::util {

// The environment variable that carries it; nothing in it is secret.
constexpr const char* kFindingsVariable = "ROOKERY_FINDINGS";

struct FindingRow {
  std::string state;  // "ok", "off" or "MISSING"; "version" for a version
  std::string what;
  std::string text;
};

// One row a line, its parts between tabs. A tab or line end in a part becomes a space.
[[nodiscard]] std::string write_findings(const std::vector<FindingRow>& rows);
// The opposite. A line that has not three parts is left out.
[[nodiscard]] std::vector<FindingRow> read_findings(std::string_view text);

}  // namespace rookery::util
