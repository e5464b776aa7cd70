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
// Up to this length a copy into the buffer is cheaper than an append.
constexpr std::size_t kShortRun = 64;

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

// Bytes at the start of `bytes` that stand for themselves in a JSON string.
std::size_t plain_prefix(std::string_view bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    const std::uint64_t special = special_bytes(word);
    if (special != 0) return i + static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  while (i < bytes.size() && !is_special(bytes[i])) ++i;
  return i;
}

// What follows the backslash for a character with a short escape, else 0.
constexpr std::array<char, 256> kShortEscapes = [] {
  std::array<char, 256> table{};
  table['"'] = '"';
  table['\\'] = '\\';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  return table;
}();

// Gathers short pieces, because appending two bytes at a time to a string costs more than escaping them.
class Pieces {
 public:
  explicit Pieces(std::string& out) noexcept : out_(out) {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() = default;

  // `piece` is shorter than the buffer.
  void add(std::string_view piece) {
    if (buffer_.size() - used_ < piece.size()) flush();
    used_ += piece.copy(buffer_.data() + used_, piece.size());
  }
  void escape(unsigned char byte) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const char letter = kShortEscapes[byte];
    if (letter != 0) {
      add({std::array{'\\', letter}.data(), 2});
    } else {
      add({std::array{'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 15U]}.data(), 6});
    }
  }
  void flush() {
    out_.append(buffer_.data(), used_);
    used_ = 0;
  }

 private:
  std::string& out_;
  std::array<char, 512> buffer_;
  std::size_t used_ = 0;
};

}  // namespace

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  Pieces pieces(out);
  while (!bytes.empty()) {
    const std::size_t plain = plain_prefix(bytes);
    if (plain <= kShortRun) {
      pieces.add(bytes.substr(0, plain));
    } else {
      pieces.flush();
      out.append(bytes.data(), plain);
    }
    bytes.remove_prefix(plain);
    // What needs care comes in runs: line ends with indentation, other scripts.
    while (!bytes.empty() && is_special(bytes.front())) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      if (byte < 0x80) {
        pieces.escape(byte);
        bytes.remove_prefix(1);
        continue;
      }
      const util::Utf8Step step = util::utf8_step(bytes);
      pieces.add(step.valid ? bytes.substr(0, step.length) : util::kReplacement);
      bytes.remove_prefix(step.length);
    }
  }
  pieces.flush();
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
