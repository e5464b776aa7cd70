// SPDX-License-Identifier: Apache-2.0
// Any body is refused with a reason or gives a request that keeps the contract's promises; every answer is valid JSON.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <rapidjson/document.h>

#include "contract/json.h"
#include "contract/json_string.h"
#include "contract/rapidjson_reader.h"
#include "util/utf8.h"

using namespace rookery::contract;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_json(const std::string& text) {
  rapidjson::StringStream stream(text.c_str());
  rapidjson::BaseReaderHandler<> ignore;
  rapidjson::Reader reader;
  const auto result = reader.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(stream, ignore);
  require(!result.IsError() && stream.Tell() == text.size());
}

// As a string of a response, any bytes read back as what a decoder of UTF-8 makes of them.
void require_string(std::string_view bytes) {
  std::string json;
  append_json_string(json, bytes);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(json.data(), json.size());
  require(!document.HasParseError() && std::string_view(document.GetString(), document.GetStringLength()) == rookery::util::to_valid_utf8(bytes));
}

void require_errors(const std::vector<FieldError>& errors) {
  require(!errors.empty());
  require_json(error_json(errors));
}

void require_name(std::string_view text) {
  require(rookery::util::valid_utf8(text));
  require(text.find('\0') == std::string_view::npos);
}

void check(const ExecRequest& request) {
  require(!request.tool_use_id.empty());
  require(!request.timeout_seconds || *request.timeout_seconds >= 1);
  require_name(request.tool_use_id);
  require(rookery::util::valid_utf8(request.source));
  if (request.tool == Tool::kTextEditor) {
    require(!request.editor.path.empty());
    require_name(request.editor.path);
  } else {
    const std::size_t length = rookery::util::code_points(request.source);
    require(length >= 1 && length <= 200'000);
  }
  if (request.tool == Tool::kBashExecution) require_name(request.source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  require_string(body);
  const auto created = parse_create_session(body);
  if (const auto* errors = std::get_if<1>(&created)) {
    require_errors(*errors);
  } else {
    require(std::get<0>(created).idle_timeout_seconds.value_or(1) >= 1);
    require_name(std::get<0>(created).image);
  }
  const auto parsed = parse_exec(body);
  if (const auto* errors = std::get_if<1>(&parsed)) {
    require_errors(*errors);
    return 0;
  }
  const auto& request = std::get<0>(parsed);
  check(request);
  CallOutcome outcome;
  outcome.out = body;
  outcome.err = request.source;
  outcome.files = {{request.editor.path, std::string(body)}};
  require_json(to_json(request, outcome));
  return 0;
}
