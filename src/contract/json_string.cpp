// SPDX-License-Identifier: Apache-2.0
#include "contract/json_string.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "util/utf8.h"

namespace rookery::contract {

namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101U;
constexpr std::uint64_t kHighBits = 0x8080808080808080U;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kStride = 64;

// High bits set where a byte of `word` is a control character, '"', '\\' or not ASCII. Exact up to and including the first
// such byte in memory (the borrow of a subtraction can only mark bytes behind it), which is all that is used.
constexpr std::uint64_t special_bytes(std::uint64_t word) noexcept {
  const std::uint64_t quote = word ^ (kOnes * '"');
  const std::uint64_t backslash = word ^ (kOnes * '\\');
  return ((word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes) | word) & kHighBits;
}

constexpr bool is_special(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x80 || c == '"' || c == '\\';
}

// Bytes at the start of `bytes` that stand for themselves in a JSON string, in whole strides.
std::size_t plain_strides(std::string_view bytes) noexcept {
  using Vector = signed char __attribute__((vector_size(16)));  // what is not ASCII is negative
  std::size_t i = 0;
  for (; i + kStride <= bytes.size(); i += kStride) {
    Vector special{};
    for (std::size_t k = 0; k < kStride; k += sizeof(Vector)) {
      Vector v;
      std::memcpy(&v, bytes.data() + i + k, sizeof(v));
      special |= (v < 0x20) | (v == '"') | (v == '\\');
    }
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(special);
    if ((words[0] | words[1]) != 0) break;
  }
  return i;
}

struct Escape {
  std::array<char, kWord> text{};
  std::size_t length = 0;
};

// How each control character, '"' and '\\' are written.
constexpr std::array<Escape, 0x80> kEscapes = [] {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::array<Escape, 0x80> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) table[byte] = {{'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 15U]}, 6};
  const auto shorten = [&table](char byte, char letter) { table[static_cast<std::size_t>(byte)] = {{'\\', letter}, 2}; };
  shorten('"', '"');
  shorten('\\', '\\');
  shorten('\b', 'b');
  shorten('\f', 'f');
  shorten('\n', 'n');
  shorten('\r', 'r');
  shorten('\t', 't');
  return table;
}();

// Takes a few bytes off the start of `bytes`, which is not empty, and writes them to `to`, where there is room for twice a word.
// Returns the end of what it wrote. Whole words are copied even where less of them counts: that costs less than to ask.
char* write_some(char* to, std::string_view& bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  if (bytes.size() >= kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    std::memcpy(to, &word, kWord);
    const std::uint64_t special = special_bytes(word);
    const std::size_t plain = special == 0 ? kWord : static_cast<std::size_t>(std::countr_zero(special)) / 8;
    to += plain;
    bytes.remove_prefix(plain);
    if (special == 0) return to;
  } else if (!is_special(bytes.front())) {
    *to = bytes.front();
    bytes.remove_prefix(1);
    return to + 1;
  }
  const auto byte = static_cast<unsigned char>(bytes.front());
  if (byte < 0x80) {
    const Escape& escape = kEscapes[byte];
    std::memcpy(to, escape.text.data(), escape.text.size());
    bytes.remove_prefix(1);
    return to + escape.length;
  }
  const util::Utf8Step step = util::utf8_step(bytes);
  to += (step.valid ? bytes.substr(0, step.length) : util::kReplacement).copy(to, kWord);
  bytes.remove_prefix(step.length);
  return to;
}

}  // namespace

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  std::array<char, 2048> piece;
  while (!bytes.empty()) {
    const std::size_t plain = plain_strides(bytes);
    out.append(bytes.data(), plain);
    bytes.remove_prefix(plain);
    char* to = piece.data();
    while (!bytes.empty() && to <= piece.data() + piece.size() - 2 * kWord) to = write_some(to, bytes);
    out.append(piece.data(), to);
  }
  out += '"';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) out += k <= group.size() ? kAlphabet[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

}  // namespace rookery::contract
