// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/shapes.h"

namespace tenon::rules {

std::optional<ir::Ints> reshape_target(const DimList& from, const DimList& to) {
  ir::Ints target;
  bool inferred = false;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].is_number()) {
      if (to[i].value() <= 0) return std::nullopt;
      target.push_back(to[i].value());
    } else if (i < from.size() && from[i] == to[i]) {
      target.push_back(0);
    } else if (!inferred) {
      target.push_back(-1);
      inferred = true;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

std::optional<ir::Ints> reshape_target(const rewrite::Look& look, ir::ValueId from, ir::ValueId to) {
  const DimList* a = look.shape(from);
  const DimList* b = look.shape(to);
  return a && b ? reshape_target(*a, *b) : std::nullopt;
}

bool broadcasts_to(const DimList& small, const DimList& large) {
  if (small.size() > large.size()) return false;
  const size_t shift = large.size() - small.size();
  for (size_t i = 0; i < small.size(); ++i)
    if (!small[i].known_equal(1) && !small[i].known_equal(large[i + shift])) return false;
  return true;
}

std::optional<ir::Ints> permutation(const rewrite::Look& look, ir::NodeId transpose) {
  if (auto perm = look.ints(transpose, "perm")) return perm;
  const auto rank = look.rank(look.operand(transpose, 0));
  if (!rank) return std::nullopt;
  ir::Ints perm;
  for (int i = *rank; i-- > 0;) perm.push_back(i);
  return perm;
}

}  // namespace tenon::rules
