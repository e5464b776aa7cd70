// SPDX-License-Identifier: Apache-2.0
#include "server/http/part_header.h"

#include <algorithm>

#include "server/http/parameters.h"
#include "server/http/syntax.h"
#include "util/utf8.h"

namespace rookery::server::http {

namespace {

bool has_control(std::string_view text) noexcept { return std::any_of(text.begin(), text.end(), is_control); }

// RFC 8187: charset'language'percent-encoded. Only UTF-8, which is all that it requires of a sender.
std::optional<std::string> extended_value(std::string_view text) {
  const std::size_t first = text.find('\'');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find('\'', first + 1);
  if (second == std::string_view::npos || !equals_ignoring_case(text.substr(0, first), "utf-8")) {
    return std::nullopt;
  }
  std::optional<std::string> value = percent_decode(text.substr(second + 1));
  if (!value || !util::valid_utf8(*value)) return std::nullopt;
  return value;
}

std::string_view disposition(std::string_view text, PartHeader& header) {
  const std::optional<ParameterList> list = parse_parameters(text);
  if (!list || list->value != "form-data") return "malformed Content-Disposition of a part";
  const std::string* name = list->find("name");
  if (name == nullptr || name->empty()) return "a part without a name";
  if (has_control(*name)) return "control character in a part's name";
  header.name = *name;
  if (const std::string* filename = list->find("filename")) header.filename = *filename;
  if (const std::string* extended = list->find("filename*")) {
    std::optional<std::string> filename = extended_value(*extended);
    if (!filename) return "malformed filename* of a part";
    if (header.filename && *header.filename != *filename) return "filename and filename* of a part differ";
    header.filename = std::move(filename);
  }
  if (header.filename && has_control(*header.filename)) return "control character in a part's file name";
  return {};
}

}  // namespace

std::string_view parse_part_header(std::string_view text, PartHeader& header) {
  bool has_disposition = false;
  bool has_type = false;
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return "malformed header of a part";
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_field_value(value)) return "control character in the header of a part";
    if (equals_ignoring_case(name, "Content-Disposition")) {
      if (std::exchange(has_disposition, true)) return "repeated header of a part";
      const std::string_view problem = disposition(value, header);
      if (!problem.empty()) return problem;
    } else if (equals_ignoring_case(name, "Content-Type")) {
      if (std::exchange(has_type, true)) return "repeated header of a part";
      header.content_type = value;
      if (lower(value).starts_with("multipart/")) return "nested multipart";
    } else if (equals_ignoring_case(name, "Content-Transfer-Encoding")) {
      // Deprecated (RFC 7578 4.7); storing the encoded bytes would be a silent change of the file.
      const std::string coding = lower(value);
      if (coding != "binary" && coding != "8bit" && coding != "7bit") return "a part with a transfer encoding";
    }
  }
  if (!has_disposition) return "a part without a Content-Disposition";
  return {};
}

}  // namespace rookery::server::http
