// SPDX-License-Identifier: Apache-2.0
#include "server/http/multipart.h"

#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace rookery::server::http;

namespace {

struct Part {
  PartHeader header;
  std::string content;
  bool ended = false;
};

struct Outcome {
  bool ok = false;
  std::string_view error;
  std::vector<Part> parts;
};

Outcome parse(std::string_view body, std::size_t cut = std::string_view::npos, std::string_view boundary = "B") {
  Outcome outcome;
  MultipartParser parser(boundary, {[&](const PartHeader& header) { outcome.parts.push_back({header, {}, false}); },
                                    [&](std::string_view bytes) { outcome.parts.back().content += bytes; },
                                    [&] { outcome.parts.back().ended = true; }});
  cut = std::min(cut, body.size());
  outcome.ok = parser.feed(body.substr(0, cut)) && parser.feed(body.substr(cut)) && parser.finish();
  outcome.error = parser.error();
  return outcome;
}

std::string part(std::string_view header, std::string_view content = "x") {
  return "--B\r\n" + std::string(header) + "\r\n\r\n" + std::string(content) + "\r\n--B--\r\n";
}

std::string disposition(std::string_view parameters) {
  return part("Content-Disposition: form-data; name=\"f\"" + std::string(parameters));
}

// Of this thread's CPU: what else the machine does must not decide a test.
double cpu_now() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_for(const std::string& body) {
  const double start = cpu_now();
  CHECK(parse(body).ok);
  return cpu_now() - start;
}

}  // namespace

TEST_CASE("parts are the same at every cut") {
  const std::string body =
      "pre\r\n--C\r\n--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\\\"b\\\\c\\d%22.txt\"\r\n"
      "Content-Type: text/plain\r\n\r\nline\r\n\r\r\n--\r\n--A\r\r\n--B\r\nContent-Disposition: form-data; name=path\r\n\r\n"
      "\r\n--B\r\nContent-Disposition: form-data; name=e\r\nX: y\r\n\r\n\r\n\r\n--B--epilogue";
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    CAPTURE(cut);
    const Outcome outcome = parse(body, cut);
    CAPTURE(outcome.error);
    REQUIRE(outcome.ok);
    REQUIRE(outcome.parts.size() == 3);
    CHECK(outcome.parts[0].header.name == "file");
    CHECK(outcome.parts[0].header.filename == "a\"b\\c\\d%22.txt");
    CHECK(outcome.parts[0].header.content_type == "text/plain");
    CHECK(outcome.parts[0].content == "line\r\n\r\r\n--\r\n--A\r");
    CHECK(outcome.parts[1].header.name == "path");
    CHECK_FALSE(outcome.parts[1].header.filename);
    CHECK(outcome.parts[1].content.empty());
    CHECK(outcome.parts[2].content == "\r\n");
    for (const Part& p : outcome.parts) CHECK(p.ended);
  }
}

TEST_CASE("a body that does not follow the grammar is refused (H52)") {
  const std::string good = disposition("");
  CHECK(parse(good).ok);
  CHECK(parse("--B--").ok);
  CHECK_FALSE(parse("").ok);
  CHECK_FALSE(parse("no boundary at all").ok);
  CHECK_FALSE(parse(good.substr(0, good.size() - 4)).ok);
  CHECK_FALSE(parse("--B\nContent-Disposition: form-data; name=f\n\nx\n--B--\n").ok);
  CHECK_FALSE(parse("--BB\r\nContent-Disposition: form-data; name=f\r\n\r\nx\r\n--BB--").ok);
  CHECK_FALSE(parse("--B\r\n\r\nx\r\n--B--").ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data")).ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data; name=\"\"")).ok);
  CHECK_FALSE(parse(part("Content-Disposition: attachment; name=f")).ok);
  CHECK_FALSE(parse(part("Content-Type: text/plain")).ok);
  CHECK_FALSE(parse("--B\r\nContent-Disposition: form-data; name=f\r\n--B--").ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data; name=f\r\nContent-Disposition: form-data; name=g")).ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data; name=f\r\n ; filename=x")).ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data; name=f\r\nContent-Type: multipart/mixed; boundary=C")).ok);
  CHECK_FALSE(parse(part("Content-Disposition: form-data; name=f\r\nContent-Transfer-Encoding: base64")).ok);
}

TEST_CASE("everything is bounded (H52)") {
  CHECK(parse(std::string(kMaxPreamble - 16, 'x') + "\r\n" + disposition("")).ok);
  CHECK_FALSE(parse(std::string(kMaxPreamble + 16, 'x') + "\r\n" + disposition("")).ok);
  CHECK_FALSE(parse(disposition("") + std::string(kMaxEpilogue + 1, 'x')).ok);
  CHECK_FALSE(parse(disposition("; filename=\"" + std::string(kMaxPartHeader, 'x') + "\"")).ok);
  std::string many;
  for (std::size_t i = 0; i <= kMaxParts; ++i) many += "--B\r\nContent-Disposition: form-data; name=f\r\n\r\nx\r\n";
  CHECK_FALSE(parse(many + "--B--").ok);
  CHECK(parse(many.substr(many.size() / (kMaxParts + 1)) + "--B--").ok);
}

TEST_CASE("file names (H54)") {
  const auto filename = [](std::string_view parameters) -> std::string {
    const Outcome outcome = parse(disposition(parameters));
    return outcome.ok ? outcome.parts.at(0).header.filename.value_or("(none)") : "(refused)";
  };
  CHECK(filename("") == "(none)");
  CHECK(filename("; filename=\"\"") == "");
  CHECK(filename("; filename=\"../../x\"") == "../../x");
  CHECK(filename("; filename=\"C:\\x\"") == "C:\\x");
  CHECK(filename("; filename=\"a%0D%0Ab\"") == "a%0D%0Ab");
  CHECK(filename("; filename*=UTF-8''a%20%C3%A9") == "a \xc3\xa9");
  CHECK(filename("; filename=\"x\"; filename*=utf-8'en'x") == "x");
  CHECK(filename("; filename=\"x\"; filename*=UTF-8''y") == "(refused)");
  CHECK(filename("; filename*=utf-7''x") == "(refused)");
  CHECK(filename("; filename*=UTF-8''%C0%AE") == "(refused)");
  CHECK(filename("; filename*=UTF-8''a%00b") == "(refused)");
  CHECK(filename("; filename*=UTF-8''a%0Db") == "(refused)");
  CHECK(filename("; filename*=UTF-8''%") == "(refused)");
  CHECK(filename("; filename*=x") == "(refused)");
  CHECK(filename("; filename=a; filename=a") == "(refused)");
  CHECK(filename("; filename=\"a") == "(refused)");
  CHECK(filename("; filename=\"a\tb\"") == "(refused)");
  CHECK(filename("; filename=\"a\r\nX: b\"") == "(refused)");
  CHECK(filename(std::string_view("; filename=\"a\0b\"", 16)) == "(refused)");
}

TEST_CASE("the boundary of a Content-Type") {
  CHECK(multipart_boundary("multipart/form-data; boundary=abc") == "abc");
  CHECK(multipart_boundary("Multipart/Form-Data; charset=utf-8; Boundary=\"a b=c\"") == "a b=c");
  CHECK(multipart_boundary("multipart/form-data; boundary=" + std::string(70, 'a')) == std::string(70, 'a'));
  for (const char* text : {"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                           "multipart/mixed; boundary=a", "multipart/form-data; boundary=a; boundary=a",
                           "multipart/form-data; boundary=\"a\r\n\"", "multipart/form-data; boundary=\"a\\\"b\"",
                           "multipart/form-data; boundary=\"\xc3\xa9\"", "multipart/form-data; boundary=\"a \"", "", ";"}) {
    CAPTURE(text);
    CHECK_FALSE(multipart_boundary(text));
  }
  CHECK_FALSE(multipart_boundary("multipart/form-data; boundary=" + std::string(5000, 'a')));
}

TEST_CASE("time is linear in the input, whatever it is") {
  constexpr std::size_t kSize = 64 * 1024 * 1024;
  const auto filled = [](std::string_view with) {
    std::string content;
    content.reserve(kSize + 200);
    while (content.size() < kSize) content += with;
    return part("Content-Disposition: form-data; name=f", content);
  };
  // Bounds for the slowest machine that runs this, under sanitizers; a quadratic search takes hours.
  CHECK(seconds_for(filled("\r\n--")) < 20);
  CHECK(seconds_for(filled("\r")) < 20);
  CHECK(seconds_for(filled("\r\n")) < 20);
  CHECK(seconds_for(filled("plain content without line ends ")) < 20);
}
