// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::inline base {

/// What inference assumes of two sizes, a and b, and what a program checks of them at run time. Numbers are stored in engines: add, never
/// renumber.
enum class SizeRelation : uint8_t {
  equal = 1,      ///< a == b
  broadcast = 2,  ///< a == b, or one of them is 1
  at_least = 3,   ///< a >= b
  spreads = 4,    ///< a == b, or a is 1
};

/// "equal", "broadcast", "at_least", "spreads"
std::string_view name_of(SizeRelation relation);
std::optional<SizeRelation> size_relation_named(std::string_view name);
/// false for a number that is no relation.
bool holds(SizeRelation relation, int64_t a, int64_t b);
/// "n == m", "n == m, or one of them is 1", "n >= m", "n == m, or n is 1"
std::string text_of(SizeRelation relation, std::string_view a, std::string_view b);

}  // namespace tenon::inline base
