// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "contract/json.h"

using namespace rookery::contract;
using namespace std::string_literals;

namespace {

ExecRequest accepted(const std::string& body) {
  auto parsed = parse_exec(body);
  if (const auto* errors = std::get_if<1>(&parsed)) FAIL_CHECK("refused: " << error_json(*errors) << " for " << body);
  return parsed.index() == 0 ? std::get<0>(parsed) : ExecRequest{};
}

// "loc.loc type; …" of what is wrong, "" when nothing is.
template <typename T>
std::string wrong(const Parsed<T>& parsed) {
  std::string text;
  if (parsed.index() == 0) return text;
  for (const FieldError& error : std::get<1>(parsed)) {
    for (std::size_t i = 0; i < error.loc.size(); ++i) text += (i == 0 ? "" : ".") + error.loc[i];
    text += " " + error.type + ";";
    CHECK_FALSE(error.msg.empty());
  }
  return text;
}

std::string exec(const std::string& fields) { return R"({"tool":"code_execution","input":{"code":"x"})" + fields + "}"; }
std::string code(const std::string& literal) { return R"({"tool":"code_execution","input":{"code":)" + literal + "}}"; }
std::string bash(const std::string& literal) { return R"({"tool":"bash_code_execution","input":{"command":)" + literal + "}}"; }
std::string edit(const std::string& fields) { return R"({"tool":"text_editor_code_execution","input":{)" + fields + "}}"; }

}  // namespace

TEST_CASE("a session may be asked for with anything that asks for nothing") {
  for (const std::string body : {"", "null", "{}", R"({"unknown":[1,{"a":null}]})", R"({"idle_timeout_seconds":null})"}) {
    CHECK(wrong(parse_create_session(body)) == "");
  }
}

TEST_CASE("lifetime hints are whole seconds of at least one") {
  const auto request = std::get<0>(parse_create_session(R"({"idle_timeout_seconds":5,"max_lifetime_seconds":99999999999999999999})"));
  CHECK(request.idle_timeout_seconds == 5);
  CHECK(request.max_lifetime_seconds == 9223372036854775807U);
  CHECK(std::get<0>(parse_create_session(R"({"idle_timeout_seconds":2.0})")).idle_timeout_seconds == 2);
  for (const std::string value : {"0", "-1", "-0", "1.5", "\"10\"", "true", "[]", "{}", "0.0", "1e-400"}) {
    CHECK(wrong(parse_create_session(R"({"idle_timeout_seconds":)" + value + "}")).starts_with("body.idle_timeout_seconds "));
  }
}

TEST_CASE("the image is a string or ignored") {
  CHECK(std::get<0>(parse_create_session(R"({"image":"data"})")).image == "data");
  for (const std::string value : {"1", "null", "[]", "{\"a\":1}", "\"a\\u0000b\"", "\"\\udc00\""}) {
    CHECK(std::get<0>(parse_create_session(R"({"image":)" + value + "}")).image.empty());
  }
}

TEST_CASE("what is not a JSON object is refused") {
  for (const std::string body : {"[]", "1", "\"x\"", "true"}) {
    CHECK(wrong(parse_create_session(body)) == "body model_attributes_type;");
    CHECK(wrong(parse_exec(body)) == "body model_attributes_type;");
  }
  CHECK(wrong(parse_exec("")) == "body missing;");
  CHECK(wrong(parse_exec("null")) == "body missing;");
  CHECK(wrong(parse_exec("{}")) == "body.tool missing;body.input missing;");
}

TEST_CASE("a body is one strict JSON document") {
  for (const std::string body : {"{}{}", "{},", "{\"a\":1,}", "{/**/}", "{'a':1}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":0x10}", "{\"a\":01}",
                                 "{\"a\":1e999}", "{\"a\":+1}", "\xEF\xBB\xBF{}", "{\"a\":\"\n\"}", "{\"a\":\"\x01\"}", "{\"a\":\"\xFF\"}",
                                 "{\"a\":\"\xED\xA0\x80\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\x\"}", "{", "  ", "{\"a\"}",
                                 "{\"a\":\"cut\xED", "{\"a\":\"cut\xF0\x9F"}) {
    CHECK(wrong(parse_create_session(body)).find(" json_invalid;") != std::string::npos);
  }
  CHECK(wrong(parse_create_session("{}\0"s)) == "body.2 json_invalid;");
  CHECK(wrong(parse_create_session("{}\0junk"s)) == "body.2 json_invalid;");
}

TEST_CASE("nesting is bounded") {
  const auto nested = [](std::size_t depth) { return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}"; };
  CHECK(wrong(parse_create_session(nested(64))) == "");
  CHECK(wrong(parse_create_session(nested(65))).ends_with("json_invalid;"));
  CHECK(wrong(parse_create_session(std::string(1'000'000, '['))).ends_with("json_invalid;"));
}

TEST_CASE("a call is read whatever the order of its fields") {
  const ExecRequest request = accepted(R"({"input":{"x":{"code":"no"},"code":"print(\"\u00e9\")\n"},"extra":{"code":"no","tool":[]},
      "timeout_seconds":60,"tool_use_id":"id\r\n1","tool":"code_execution"})");
  CHECK(request.tool == Tool::kCodeExecution);
  CHECK(request.source == "print(\"\u00e9\")\n");
  CHECK(request.timeout_seconds == 60);
  CHECK(request.tool_use_id == "id\r\n1");
}

TEST_CASE("timeouts are whole seconds of at least one; large ones are not an error") {
  CHECK_FALSE(accepted(exec("")).timeout_seconds);
  CHECK_FALSE(accepted(exec(R"(,"timeout_seconds":null)")).timeout_seconds);
  CHECK(accepted(exec(R"(,"timeout_seconds":2.0)")).timeout_seconds == 2);
  CHECK(accepted(exec(R"(,"timeout_seconds":1e3)")).timeout_seconds == 1000);
  CHECK(accepted(exec(R"(,"timeout_seconds":9223372036854775808)")).timeout_seconds == 9223372036854775807U);
  CHECK(accepted(exec(R"(,"timeout_seconds":1e300)")).timeout_seconds == 9223372036854775807U);
  for (const std::string value : {"-1", "0", "-0", "0.1", "\"10\"", "true", "[1]", "{}", "-1e300", "1e-400"}) {
    CHECK(wrong(parse_exec(exec(R"(,"timeout_seconds":)" + value))).starts_with("body.timeout_seconds "));
  }
  CHECK(wrong(parse_exec(exec(R"(,"timeout_seconds":)" + std::string(100'000, '9')))) != "");
}

TEST_CASE("a call without an id gets one of its own") {
  for (const std::string fields : {"", R"(,"tool_use_id":null)", R"(,"tool_use_id":"")"}) {
    const std::string id = accepted(exec(fields)).tool_use_id;
    CHECK(id.size() == 33);
    CHECK(id.starts_with("srvtoolu_"));
    CHECK(id != accepted(exec(fields)).tool_use_id);
  }
  CHECK(accepted(exec(",\"tool_use_id\":\"" + std::string(4096, 'i') + "\"")).tool_use_id.size() == 4096);
  CHECK(wrong(parse_exec(exec(",\"tool_use_id\":\"" + std::string(4097, 'i') + "\""))) == "body.tool_use_id string_too_long;");
  CHECK(wrong(parse_exec(exec(R"(,"tool_use_id":"a\u0000")"))) == "body.tool_use_id value_error;");
  CHECK(wrong(parse_exec(exec(R"(,"tool_use_id":"\udc00")"))) == "body.tool_use_id string_unicode;");
  CHECK(wrong(parse_exec(exec(R"(,"tool_use_id":7)"))) == "body.tool_use_id string_type;");
}

TEST_CASE("sources have 1 to 200,000 characters") {
  CHECK(accepted(code("\"" + std::string(200'000, 'x') + "\"")).source.size() == 200'000);
  std::string wide;
  for (int i = 0; i < 200'000; ++i) wide += "\U0001F600";
  CHECK(accepted(code("\"" + wide + "\"")).source.size() == 800'000);
  CHECK(wrong(parse_exec(code("\"" + wide + "x\""))) == "body.input.code string_too_long;");
  CHECK(wrong(parse_exec(bash("\"" + std::string(200'001, 'x') + "\""))) == "body.input.command string_too_long;");
  CHECK(wrong(parse_exec(code("\"\""))) == "body.input.code string_too_short;");
  CHECK(wrong(parse_exec(bash("\"\""))) == "body.input.command string_too_short;");
  CHECK(wrong(parse_exec(code("null"))) == "body.input.code string_type;");
  CHECK(wrong(parse_exec(code("[\"x\"]"))) == "body.input.code string_type;");
  CHECK(wrong(parse_exec(code("\"\\udfff\""))) == "body.input.code string_unicode;");
}

TEST_CASE("NUL is for the interpreter to refuse, but cannot be part of a command line") {
  CHECK(accepted(code(R"("a\u0000b")")).source == "a\0b"s);
  CHECK(wrong(parse_exec(bash(R"("a\u0000b")"))) == "body.input.command value_error;");
}

TEST_CASE("an error names its field in the words of the reference") {
  CHECK(error_json(std::get<1>(parse_exec(R"({"tool":"code_execution","input":{}})"))) ==
        R"({"detail":[{"loc":["body","input","code"],"msg":"Field required","type":"missing"}]})");
  CHECK(error_json(std::get<1>(parse_exec(R"({"tool":"ruby","input":{}})"))) ==
        R"({"detail":[{"loc":["body","tool"],"msg":"Input should be 'code_execution', 'bash_code_execution' or 'text_editor_code_execution'","type":"literal_error"}]})");
  CHECK(error_json(std::get<1>(parse_exec(exec(R"(,"timeout_seconds":0)")))) ==
        R"({"detail":[{"loc":["body","timeout_seconds"],"msg":"Input should be greater than or equal to 1","type":"greater_than_equal"}]})");
  CHECK(wrong(parse_exec(R"({"tool":"code_execution\u0000","input":{"code":"x"}})")) == "body.tool literal_error;");
  for (const std::string value : {"[]", "\"code\"", "null", "1"}) {
    CHECK(wrong(parse_exec(R"({"tool":"code_execution","input":)" + value + "}")) == "body.input dict_type;");
  }
}

TEST_CASE("keys that count must not come twice") {
  CHECK(wrong(parse_exec(exec(R"(,"tool":"bash_code_execution")"))) == "body.tool duplicate_key;");
  CHECK(wrong(parse_exec(exec(R"(,"input":{"code":"y"})"))) == "body.input duplicate_key;");
  CHECK(wrong(parse_exec(R"({"tool":"code_execution","input":{"code":"a","code":"b"}})")) == "body.input.code duplicate_key;");
  CHECK(accepted(exec(R"(,"other":1,"other":2)")).source == "x");
}

TEST_CASE("editor calls are checked for their types; what a command lacks is the editor's answer") {
  const ExecRequest request = accepted(edit(R"("command":"view","path":"a.txt","view_range":[1,-1],"old_str":"\u0000")"));
  CHECK(request.editor.command == EditorCommand::kView);
  CHECK(request.editor.path == "a.txt");
  CHECK(request.editor.view_range == std::array<std::int64_t, 2>{1, -1});
  CHECK(request.editor.old_str == "\0"s);
  CHECK_FALSE(request.editor.file_text);
  CHECK(accepted(edit(R"("command":"create","path":"a")")).editor.command == EditorCommand::kCreate);
  CHECK(accepted(edit(R"("command":"insert","path":"a","insert_line":-5,"new_str":null)")).editor.insert_line == -5);
  CHECK_FALSE(accepted(edit(R"("command":"view","path":"a","view_range":[])")).editor.view_range);

  CHECK(wrong(parse_exec(edit(R"("command":"delete","path":"a")"))) == "body.input.command literal_error;");
  CHECK(wrong(parse_exec(edit(R"("command":"view")"))) == "body.input.path missing;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"")"))) == "body.input.path string_too_short;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a\u0000b")"))) == "body.input.path value_error;");
  CHECK(wrong(parse_exec(edit(R"("command":"create","path":"a","file_text":1)"))) == "body.input.file_text string_type;");
  CHECK(wrong(parse_exec(edit(R"("command":"insert","path":"a","insert_line":"1")"))) == "body.input.insert_line int_type;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a","view_range":"1")"))) == "body.input.view_range list_type;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a","view_range":[1])"))) == "body.input.view_range too_short;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a","view_range":[1,2,3,4,5,6,7,8,9,10])"))) == "body.input.view_range too_long;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a","view_range":[1,1.5])"))) == "body.input.view_range.1 int_from_float;");
  CHECK(wrong(parse_exec(edit(R"("command":"view","path":"a","view_range":[[1],null])"))) ==
        "body.input.view_range.0 int_type;body.input.view_range.1 int_type;");
}
