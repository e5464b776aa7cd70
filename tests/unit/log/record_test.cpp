// SPDX-License-Identifier: Apache-2.0
#include "log/record.h"

#include <doctest/doctest.h>
#include <rapidjson/document.h>

using namespace rookery::log;

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

rapidjson::Document parsed(const std::string& members) {
  rapidjson::Document document;
  document.Parse(("{" + members + "}").c_str());
  REQUIRE_FALSE(document.HasParseError());
  return document;
}

}  // namespace

TEST_CASE("escaped text is ASCII on one line and reads back as what it was") {
  CHECK(escaped("plain text.") == "\"plain text.\"");
  CHECK(escaped("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(escaped("a\nb\r\x1b[2J\x7f") == "\"a\\u000ab\\u000d\\u001b[2J\\u007f\"");
  CHECK(escaped("\xc2\x9b") == "\"\\u009b\"");          // CSI, one character
  CHECK(escaped("\xe2\x80\xae") == "\"\\u202e\"");      // right-to-left override
  CHECK(escaped("\xf0\x9f\x90\xa6") == "\"\\ud83d\\udc26\"");
  CHECK(escaped("a\xff\xc3") == "\"a\\ufffd\\ufffd\"");
  CHECK(escaped(std::string_view("\0", 1)) == "\"\\u0000\"");
}

TEST_CASE("a record's members are JSON whatever its values hold") {
  const std::string nasty = "x\",\"level\":\"DEBUG\n\xff";
  const Record record{Level::kWarning, "init", nasty, {{"error", nasty}, {"empty", ""}, {"count", std::int64_t{-3}}, {"duration_ms", 1.5}}};
  const std::string members = json_members(record, "rookery", nasty);
  CHECK(members.find('\n') == std::string::npos);
  const auto document = parsed(members);
  CHECK(std::string(document["level"].GetString()) == "WARNING");
  CHECK(std::string(document["role"].GetString()) == "init");
  CHECK(std::string(document["message"].GetString()) == "x\",\"level\":\"DEBUG\n\xef\xbf\xbd");
  CHECK(document["count"].GetInt() == -3);
  CHECK(document["duration_ms"].GetDouble() == 1.5);
  CHECK_FALSE(document.HasMember("empty"));
  CHECK(document.MemberCount() == 8);
}

TEST_CASE("a text line quotes what could be taken for another field") {
  const Record record{Level::kInfo, "server", "request", {{"route", "health"}, {"text", "a status=200"}, {"status", std::int64_t{404}}, {"none", ""}}};
  CHECK(text_line(record) == "INFO request route=health text=\"a status=200\" status=404");
  CHECK(text_line({Level::kError, "warden", "lost\n\x1b", {}}) == "ERROR warden: lost\\u000a\\u001b");
}

TEST_CASE("what is told of a session's id does not lead to the session") {
  CHECK(shortened("sbx_0123456789abcdef0123456789abcdef0123") == "sbx_01234567");
  CHECK(shortened("x") == "x");
}
