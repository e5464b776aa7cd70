// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <random>

#include "contract/json.h"
#include "contract/json_string.h"
#include "util/utf8.h"

using namespace rookery::contract;
using namespace std::string_literals;

namespace {

std::string quoted(std::string_view bytes) {
  std::string out;
  append_json_string(out, bytes);
  return out;
}

// What a strict reader makes of the JSON string.
std::string read_back(const std::string& json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(json.data(), json.size());
  REQUIRE_FALSE(document.HasParseError());
  return {document.GetString(), document.GetStringLength()};
}

}  // namespace

TEST_CASE("every byte survives as a JSON string at every position") {
  for (int byte = 0; byte < 256; ++byte) {
    for (const std::size_t before : {0U, 1U, 7U, 8U, 63U, 64U, 65U, 600U}) {
      const std::string text = std::string(before, 'a') + static_cast<char>(byte) + std::string(before, 'b');
      CHECK(read_back(quoted(text)) == rookery::util::to_valid_utf8(text));
    }
    CHECK(read_back(quoted(std::string(1500, static_cast<char>(byte)))) ==
          rookery::util::to_valid_utf8(std::string(1500, static_cast<char>(byte))));
  }
}

TEST_CASE("any mixture of plain, escaped, foreign and ill-formed text survives as a JSON string") {
  std::mt19937 random(1);
  const std::string_view parts[] = {"a", "some words, ", "\n", "\"", "\\", "\x1f", "\x7f", "\u00e9", "\u20ac", "\U0001F600", "\x80", "\xE2\x82", "\xF0\x9F", "\xC0\xAF", "\xED\xA0\x80", "\xFF"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    // Few kinds at a time, so that long runs of one are among them.
    const std::size_t kinds = 1 + random() % std::size(parts);
    for (std::size_t count = random() % 400; count > 0; --count) text += parts[(random() % kinds + static_cast<unsigned>(round)) % std::size(parts)];
    REQUIRE(read_back(quoted(text)) == rookery::util::to_valid_utf8(text));
  }
}

TEST_CASE("JSON strings are escaped shortly and stay valid UTF-8") {
  CHECK(quoted("") == "\"\"");
  CHECK(quoted("a\"b\\c\n\r\t\b\f\x01\x7f") == "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\x7f\"");
  CHECK(quoted("caf\xE9 \u00e9\u20ac\U0001F600") == "\"caf\uFFFD \u00e9\u20ac\U0001F600\"");
  CHECK(quoted("\xED\xA0\x80 cut \xE2\x82") == "\"\uFFFD\uFFFD\uFFFD cut \uFFFD\"");
}

TEST_CASE("a result has the shape of the contract") {
  ExecRequest request;
  request.tool = Tool::kBashExecution;
  request.tool_use_id = "id";
  CallOutcome outcome;
  outcome.out = "out\n";
  outcome.err = "err\n";
  outcome.return_code = -9;
  outcome.execution_time_ms = 84;
  outcome.files = {{"a.txt", "a.txt"}, {"d/b", "d/b"}};
  CHECK(to_json(request, outcome) ==
        R"({"tool_use_id":"id","result_block":{"type":"bash_code_execution_tool_result","tool_use_id":"id",)"
        R"("content":{"type":"code_execution_result","stdout":"out\n","stderr":"err\n","return_code":-9,"content":[)"
        R"({"type":"code_execution_output","file_id":"a.txt","filename":"a.txt"},{"type":"code_execution_output","file_id":"d/b","filename":"d/b"}]}},)"
        R"("execution_time_ms":84})");
}

TEST_CASE("only code_execution loses one newline at the end of each stream") {
  CallOutcome outcome;
  outcome.out = "2\n\n";
  outcome.err = "\n";
  ExecRequest request;
  CHECK(to_json(request, outcome).find(R"("stdout":"2\n","stderr":"")") != std::string::npos);
  request.tool = Tool::kTextEditor;
  CHECK(to_json(request, outcome).find(R"("stdout":"2\n\n","stderr":"\n")") != std::string::npos);
}

TEST_CASE("additive fields are written where they say something") {
  CallOutcome outcome;
  outcome.files = {{"a", "a"}};
  outcome.files_total = 7;
  outcome.queued_ms = 3;
  outcome.timed_out = true;
  outcome.interpreter_restarted = true;
  outcome.limit = Limit::kWallClock;
  outcome.timeout_in_force_s = 120;
  CHECK(to_json(ExecRequest{}, outcome).ends_with(
      R"("execution_time_ms":0,"files_total":7,"queued_ms":3,"timed_out":true,"interpreter_restarted":true,"limit":"wall_clock","timeout_seconds":120})"));
}

TEST_CASE("a session handle reports POSIX seconds as floats") {
  SessionHandle handle{"sbx_1", 1786000000.0, 1786000000.25, 900, 7200, ""};
  CHECK(to_json(handle) ==
        R"({"session_id":"sbx_1","created_at":1786000000.0,"last_activity_at":1786000000.25,"idle_timeout_seconds":900,"max_lifetime_seconds":7200})");
}

TEST_CASE("file names are JSON whatever bytes they are made of") {
  std::vector<FileMetadata> files = {{"new\nline.csv", 3, "text/csv", 1.5}, {"\xFF.x", 0, "", 2}};
  CHECK(to_json(files) ==
        R"({"files":[{"path":"new\nline.csv","size_bytes":3,"mime_type":"text/csv","modified_at":1.5},)"
        "{\"path\":\"\uFFFD.x\",\"path_base64\":\"/y54\",\"size_bytes\":0,\"mime_type\":null,\"modified_at\":2.0}]}");
  CHECK(to_json(std::vector<FileMetadata>{}) == R"({"files":[]})");
  CHECK(to_json(std::vector<FileMetadata>{}, true) == R"({"files":[],"truncated":true})");
  CHECK(upload_result_json("a;touch $(id)", 7) == R"j({"path":"a;touch $(id)","size_bytes":7})j");
  CHECK(base64("") == "");
  CHECK(base64("a") == "YQ==");
  CHECK(base64("ab") == "YWI=");
}

TEST_CASE("error bodies carry their text verbatim") {
  CHECK(error_json("no \"such\" x\r\nX-Evil: 1") == R"({"detail":"no \"such\" x\r\nX-Evil: 1"})");
  CHECK(error_json(std::vector<FieldError>{{{"body", "12"}, "m", "t"}}) == R"({"detail":[{"loc":["body",12],"msg":"m","type":"t"}]})");
}
