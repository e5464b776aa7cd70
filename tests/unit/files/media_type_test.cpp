// SPDX-License-Identifier: Apache-2.0
#include "server/files/media_type.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace rookery::server;

TEST_CASE("media types come from the extension in any case") {
  CHECK(guess_media_type("a.csv") == "text/csv");
  CHECK(guess_media_type("d.d/A.PNG") == "image/png");
  CHECK(guess_media_type("x.tar.gz") == "application/gzip");
  for (const auto* name : {"a", "", ".", ".csv", "d/.csv", "a.", "a.unknown", "a.csv/b", "a.averylongextension"}) CHECK(guess_media_type(name).empty());
}

TEST_CASE("a download never has a type a browser would run") {
  CHECK(download_media_type("a.csv") == "text/csv");
  CHECK(download_media_type("a.png") == "image/png");
  for (const auto* name : {"a.html", "a.HTM", "a.svg", "a.xml", "a.js", "a.mjs", "a.xhtml", "a.css", "a.wasm", "a.unknown", "a"}) {
    CHECK(download_media_type(name) == "application/octet-stream");
  }
}

TEST_CASE("a file name cannot leave its header field") {
  CHECK(content_disposition("d/plot 1.png") == "attachment; filename=\"plot 1.png\"; filename*=UTF-8''plot%201.png");
  CHECK(content_disposition("a\";filename=\"b.exe") ==
        "attachment; filename=\"a__filename__b.exe\"; filename*=UTF-8''a%22%3Bfilename%3D%22b.exe");
  CHECK(content_disposition("p l\u00f6t.png") == "attachment; filename=\"p l__t.png\"; filename*=UTF-8''p%20l%C3%B6t.png");
  CHECK(content_disposition("\xFF") == "attachment; filename=\"___\"; filename*=UTF-8''%EF%BF%BD");
  const std::string header = content_disposition("X\r\nX-Injected: 1\r\n\r\nbody%0d%0a\\");
  CHECK(std::ranges::all_of(header, [](char c) { return c >= 0x20 && c < 0x7f; }));
  CHECK(header.find("%250d%250a%5C") != std::string::npos);
}
