// SPDX-License-Identifier: Apache-2.0
#include "base/size_relation.h"

#include <fmt/format.h>

namespace tenon::inline base {

std::string_view name_of(SizeRelation relation) {
  switch (relation) {
    case SizeRelation::equal: return "equal";
    case SizeRelation::broadcast: return "broadcast";
    case SizeRelation::at_least: return "at_least";
    case SizeRelation::spreads: return "spreads";
  }
  return {};
}

std::optional<SizeRelation> size_relation_named(std::string_view name) {
  for (auto k = static_cast<uint8_t>(SizeRelation::equal); k <= static_cast<uint8_t>(SizeRelation::spreads); ++k)
    if (name_of(SizeRelation{k}) == name) return SizeRelation{k};
  return std::nullopt;
}

bool holds(SizeRelation relation, int64_t a, int64_t b) {
  switch (relation) {
    case SizeRelation::equal: return a == b;
    case SizeRelation::broadcast: return a == b || a == 1 || b == 1;
    case SizeRelation::at_least: return a >= b;
    case SizeRelation::spreads: return a == b || a == 1;
  }
  return false;
}

std::string text_of(SizeRelation relation, std::string_view a, std::string_view b) {
  switch (relation) {
    case SizeRelation::equal: return fmt::format("{} == {}", a, b);
    case SizeRelation::broadcast: return fmt::format("{} == {}, or one of them is 1", a, b);
    case SizeRelation::at_least: return fmt::format("{} >= {}", a, b);
    case SizeRelation::spreads: return fmt::format("{} == {}, or {} is 1", a, b, a);
  }
  return {};
}

}  // namespace tenon::inline base
