// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/shapes.h"

namespace tenon::rules {
namespace {

/// The axes of size 1 that `large` has and `small` lacks; of several possible positions the first. nullopt where the shapes differ
/// otherwise.
std::optional<ir::Ints> extra_ones(const DimList& small, const DimList& large) {
  ir::Ints axes;
  size_t next = 0;
  for (size_t i = 0; i < large.size(); ++i) {
    if (next < small.size() && small[next].known_equal(large[i])) ++next;
    else if (large[i].known_equal(1)) axes.push_back(static_cast<int64_t>(i));
    else return std::nullopt;
  }
  return next == small.size() ? std::optional(axes) : std::nullopt;
}

}  // namespace

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

std::optional<ir::Ints> reshape_target(const rewrite::GraphQuery& query, ir::ValueId from, ir::ValueId to) {
  const DimList* a = query.shape(from);
  const DimList* b = query.shape(to);
  return a && b ? reshape_target(*a, *b) : std::nullopt;
}

bool broadcasts_to(const DimList& small, const DimList& large) {
  if (small.size() > large.size()) return false;
  const size_t shift = large.size() - small.size();
  for (size_t i = 0; i < small.size(); ++i)
    if (!small[i].known_equal(1) && !small[i].known_equal(large[i + shift])) return false;
  return true;
}

bool is_reshape(const ir::Node& node) { return node.is("Reshape") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Flatten"); }

std::optional<UnitAxes> unit_axes_between(const DimList& from, const DimList& to) {
  const bool added = to.size() >= from.size();
  auto axes = added ? extra_ones(from, to) : extra_ones(to, from);
  return axes ? std::optional(UnitAxes{std::move(*axes), added}) : std::nullopt;
}

std::optional<ir::Ints> permutation(const rewrite::GraphQuery& query, ir::NodeId transpose) {
  if (auto perm = query.ints(transpose, "perm")) return perm;
  const auto rank = query.rank(query.operand(transpose, 0));
  if (!rank) return std::nullopt;
  ir::Ints perm;
  for (int i = *rank; i-- > 0;) perm.push_back(i);
  return perm;
}

bool moves_only_unit_axes(const rewrite::GraphQuery& query, ir::NodeId transpose) {
  const DimList* shape = query.shape(query.operand(transpose, 0));
  const auto perm = permutation(query, transpose);
  if (!shape || !perm) return false;
  int64_t last = -1;
  for (int64_t axis : *perm) {
    if ((*shape)[axis].known_equal(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace tenon::rules
