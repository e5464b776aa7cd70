// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rookery::util {

// U+FFFD REPLACEMENT CHARACTER.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What stands at the start of some bytes.
struct Utf8Step {
  std::size_t length = 0;  // bytes of the character, or of the maximal ill-formed part; >= 1
  bool valid = false;
};

// The first character of `bytes`, which is not empty. An ill-formed start is measured as a "maximal subpart" (Unicode 15,
// section 3.9): what Python's and the web's decoders replace by one U+FFFD. `incomplete`, if given, says
// whether that part is only cut short by the end of `bytes`.
[[nodiscard]] Utf8Step utf8_step(std::string_view bytes, bool* incomplete = nullptr) noexcept;

// Length of the run of printable-or-control ASCII at the start of `bytes`.
[[nodiscard]] std::size_t ascii_prefix(std::string_view bytes) noexcept;

// Well-formed UTF-8: no surrogate, no overlong form, nothing above U+10FFFF.
[[nodiscard]] bool valid_utf8(std::string_view bytes) noexcept;

// Code points of valid UTF-8; of other bytes, the number of bytes that do not continue a character.
[[nodiscard]] std::size_t code_points(std::string_view text) noexcept;

// `bytes` with each maximal ill-formed part replaced by U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view bytes);

}  // namespace rookery::util
