// SPDX-License-Identifier: Apache-2.0
#include "util/findings.h"

#include <algorithm>

namespace rookery::util {

std::string write_findings(const std::vector<FindingRow>& rows) {
  const auto plain = [](std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    return text;
  };
  std::string all;
  for (const FindingRow& row : rows) all += plain(row.state) + "\t" + plain(row.what) + "\t" + plain(row.text) + "\n";
  return all;
}

std::vector<FindingRow> read_findings(std::string_view text) {
  std::vector<FindingRow> rows;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string_view::npos ? first : line.find('\t', first + 1);
    if (second == std::string_view::npos) continue;
    rows.push_back({std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1)), std::string(line.substr(second + 1))});
  }
  return rows;
}

}  // namespace rookery::util
