// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace rookery::util {

namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

constexpr unsigned char byte_at(std::string_view bytes, std::size_t i) noexcept {
  return static_cast<unsigned char>(bytes[i]);
}

// Table 3-7 of the Unicode standard: how long a character with this first byte is, and the range of its second byte.
struct Lead {
  unsigned char length;
  unsigned char low;
  unsigned char high;
};

constexpr Lead lead_of(unsigned char first) noexcept {
  if (first < 0x80) return {1, 0, 0};
  if (first >= 0xC2 && first <= 0xDF) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first >= 0xF1 && first <= 0xF3) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

constexpr std::array<Lead, 256> kLeads = [] {
  std::array<Lead, 256> leads{};
  for (unsigned first = 0; first < leads.size(); ++first) leads[first] = lead_of(static_cast<unsigned char>(first));
  return leads;
}();

}  // namespace

Utf8Step utf8_step(std::string_view bytes, bool* incomplete) noexcept {
  if (incomplete != nullptr) *incomplete = false;
  const Lead lead = kLeads[byte_at(bytes, 0)];
  if (lead.length <= 1) return {1, lead.length == 1};
  unsigned char low = lead.low;
  unsigned char high = lead.high;
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) {
      if (incomplete != nullptr) *incomplete = true;
      return {i, false};
    }
    const unsigned char next = byte_at(bytes, i);
    if (next < low || next > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {lead.length, true};
}

std::size_t ascii_prefix(std::string_view bytes) noexcept {
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (i < bytes.size() && byte_at(bytes, i) < 0x80) ++i;
  return i;
}

bool valid_utf8(std::string_view bytes) noexcept {
  while (true) {
    bytes.remove_prefix(ascii_prefix(bytes));
    // Other scripts come in runs too: stay with them until ASCII returns.
    while (!bytes.empty() && byte_at(bytes, 0) >= 0x80) {
      const Utf8Step step = utf8_step(bytes);
      if (!step.valid) return false;
      bytes.remove_prefix(step.length);
    }
    if (bytes.empty()) return true;
  }
}

std::size_t code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

std::string to_valid_utf8(std::string_view bytes) {
  if (valid_utf8(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size() + 2 * kReplacement.size());
  while (!bytes.empty()) {
    const std::size_t ascii = ascii_prefix(bytes);
    out.append(bytes.substr(0, ascii));
    bytes.remove_prefix(ascii);
    while (!bytes.empty() && byte_at(bytes, 0) >= 0x80) {
      const Utf8Step step = utf8_step(bytes);
      out.append(step.valid ? bytes.substr(0, step.length) : kReplacement);
      bytes.remove_prefix(step.length);
    }
  }
  return out;
}

}  // namespace rookery::util
