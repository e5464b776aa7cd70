// SPDX-License-Identifier: Apache-2.0
#include "server/files/media_type.h"

#include <algorithm>
#include <array>

#include "util/utf8.h"

namespace rookery::server {

namespace {

constexpr std::string_view kOctets = "application/octet-stream";

struct Row {
  std::string_view extension;
  std::string_view media_type;
  bool active = false;  // a browser might run it
};

// Sorted by extension.
constexpr std::array kTable = {
    Row{"7z", "application/x-7z-compressed"},
    Row{"aac", "audio/aac"},
    Row{"avi", "video/x-msvideo"},
    Row{"avif", "image/avif"},
    Row{"bmp", "image/bmp"},
    Row{"bz2", "application/x-bzip2"},
    Row{"c", "text/plain"},
    Row{"css", "text/css", true},
    Row{"csv", "text/csv"},
    Row{"doc", "application/msword"},
    Row{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    Row{"eps", "application/postscript", true},
    Row{"epub", "application/epub+zip"},
    Row{"flac", "audio/flac"},
    Row{"geojson", "application/geo+json"},
    Row{"gif", "image/gif"},
    Row{"gz", "application/gzip"},
    Row{"h5", "application/x-hdf5"},
    Row{"htm", "text/html", true},
    Row{"html", "text/html", true},
    Row{"ico", "image/vnd.microsoft.icon"},
    Row{"ics", "text/calendar"},
    Row{"ipynb", "application/x-ipynb+json"},
    Row{"jpeg", "image/jpeg"},
    Row{"jpg", "image/jpeg"},
    Row{"js", "text/javascript", true},
    Row{"json", "application/json"},
    Row{"jsonl", "application/jsonl"},
    Row{"log", "text/plain"},
    Row{"md", "text/markdown"},
    Row{"mjs", "text/javascript", true},
    Row{"mov", "video/quicktime"},
    Row{"mp3", "audio/mpeg"},
    Row{"mp4", "video/mp4"},
    Row{"mpeg", "video/mpeg"},
    Row{"oga", "audio/ogg"},
    Row{"ogg", "audio/ogg"},
    Row{"parquet", "application/vnd.apache.parquet"},
    Row{"pdf", "application/pdf"},
    Row{"png", "image/png"},
    Row{"ppt", "application/vnd.ms-powerpoint"},
    Row{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    Row{"ps", "application/postscript", true},
    Row{"py", "text/x-python"},
    Row{"rtf", "application/rtf"},
    Row{"sh", "application/x-sh"},
    Row{"sql", "application/sql"},
    Row{"sqlite", "application/vnd.sqlite3"},
    Row{"svg", "image/svg+xml", true},
    Row{"swf", "application/x-shockwave-flash", true},
    Row{"tar", "application/x-tar"},
    Row{"tif", "image/tiff"},
    Row{"tiff", "image/tiff"},
    Row{"toml", "application/toml"},
    Row{"tsv", "text/tab-separated-values"},
    Row{"txt", "text/plain"},
    Row{"wasm", "application/wasm", true},
    Row{"wav", "audio/x-wav"},
    Row{"weba", "audio/webm"},
    Row{"webm", "video/webm"},
    Row{"webp", "image/webp"},
    Row{"xht", "application/xhtml+xml", true},
    Row{"xhtml", "application/xhtml+xml", true},
    Row{"xls", "application/vnd.ms-excel"},
    Row{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    Row{"xml", "text/xml", true},
    Row{"xsl", "text/xml", true},
    Row{"xz", "application/x-xz"},
    Row{"yaml", "application/yaml"},
    Row{"yml", "application/yaml"},
    Row{"zip", "application/zip"},
    Row{"zst", "application/zstd"},
};
static_assert(std::ranges::is_sorted(kTable, {}, &Row::extension));

constexpr std::size_t kLongestExtension = 8;

const Row* row_of(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  // ".csv" is a hidden file without an extension.
  if (dot == std::string_view::npos || dot == 0 || name[dot - 1] == '/') return nullptr;
  const std::string_view extension = name.substr(dot + 1);
  if (extension.size() > kLongestExtension) return nullptr;
  std::array<char, kLongestExtension> lower{};
  std::ranges::transform(extension, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string_view wanted(lower.data(), extension.size());
  const auto row = std::ranges::lower_bound(kTable, wanted, {}, &Row::extension);
  return row != kTable.end() && row->extension == wanted ? &*row : nullptr;
}

constexpr bool is_alphanumeric(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// attr-char of RFC 8187.
constexpr bool is_attribute_char(char c) noexcept {
  return is_alphanumeric(c) || std::string_view("!#$&+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

std::string_view guess_media_type(std::string_view name) noexcept {
  const Row* row = row_of(name);
  return row == nullptr ? std::string_view() : row->media_type;
}

std::string_view download_media_type(std::string_view name) noexcept {
  const Row* row = row_of(name);
  return row == nullptr || row->active ? kOctets : row->media_type;
}

std::string content_disposition(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // npos + 1 is 0: no slash, the whole path.
  const std::string name = util::to_valid_utf8(path.substr(path.rfind('/') + 1));
  std::string plain;
  std::string encoded;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    // Old clients undo neither quoting nor percent signs, so their name has none of both.
    plain += is_alphanumeric(c) || c == '.' || c == '-' || c == '_' || c == ' ' ? c : '_';
    if (is_attribute_char(c)) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4U];
      encoded += kHex[byte & 15U];
    }
  }
  return "attachment; filename=\"" + plain + "\"; filename*=UTF-8''" + encoded;
}

}  // namespace rookery::server
