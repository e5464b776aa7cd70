// SPDX-License-Identifier: Apache-2.0
#pragma once

// RapidJSON 1.1.0 adds an offset to the null pointer of its empty stack, which clang's UBSan reports in our translation
// units because it is all templates. Harmless; fixed after 1.1.0.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#ifdef __clang__
#pragma clang attribute pop
#endif
