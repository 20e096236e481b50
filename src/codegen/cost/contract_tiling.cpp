// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/contract_tiling.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"
#include "codegen/cost/contract_cost.h"

namespace tenon::codegen {

namespace {

/// The place of the rows operand: of its load, or in the array that `store_rows_operand` will add.
std::optional<Affine> rows_place(const Contraction& c, const Nest& nest, const Plan& plan) {
  const int axes = static_cast<int>(nest.axes.size());
  if (c.rows_operand.accesses.size() == 1) return affine_of(flat_of(nest.accesses[c.rows_operand.accesses[0]], plan), axes);
  Affine out{DimList(nest.axes.size(), 0)};
  Dim step = 1;
  for (const auto* list : {&c.depth, &c.rows, &c.batch})
    for (size_t k = list->size(); k-- > 0;) {
      out.coefficients[(*list)[k].axes[0]] = step;
      step = step * (*list)[k].extent;
    }
  return out;
}

std::optional<Affine> scale_place(const Contraction& c, const Nest& nest, const Plan& plan) {
  return c.scale < 0 ? std::nullopt : affine_of(flat_of(nest.accesses[c.scale], plan), static_cast<int>(nest.axes.size()));
}

bool scale_moves(const Tiling& t, const JointAxis& rows) { return t.scale && !(t.scale->coefficients[rows.axes.back()] == Dim(0)); }

/// Tiles run over the last axis of rows. Where that may be short (a batch of unknown size), moves an axis that is known to be long (the
/// steps of a sequence) to the end.
void move_long_rows_last(Tiling& t, int64_t long_rows) {
  std::vector<JointAxis>& rows = t.roles.rows;
  const auto count = [](const JointAxis& a) { return a.extent.number().value_or(0); };
  if (rows.empty() || count(rows.back()) >= long_rows) return;
  const auto longest = std::ranges::max_element(rows, {}, count);
  if (count(*longest) >= long_rows && !scale_moves(t, *longest)) std::rotate(longest, longest + 1, rows.end());
}

bool join_axes(Tiling& t, const Plan& plan) {
  std::vector<Affine> places{t.rows};
  places.insert(places.end(), t.results.begin(), t.results.end());
  for (const EpilogueRead& r : t.reads) places.push_back(r.place);
  if (t.scale) places.push_back(*t.scale);
  join_roles(t.roles, places);
  move_long_rows_last(t, plan.limits.tile_rows);
  return t.roles.lanes.size() == 1;
}

/// The tiling with the epilogue on the tile; nullopt where the epilogue must be a kernel of its own.
std::optional<Tiling> with_epilogue(const Tiling& without_epilogue, const Group& group, const Plan& plan) {
  auto places = group.epilogue ? epilogue_places(*group.epilogue, group.nests[0], plan) : std::nullopt;
  if (!places) return std::nullopt;
  Tiling tiling = without_epilogue;
  tiling.with_epilogue = true;
  tiling.reads = std::move(places->reads);
  tiling.results = std::move(places->results);
  tiling.columns = group.epilogue->columns;
  return join_axes(tiling, plan) ? std::optional(std::move(tiling)) : std::nullopt;
}

}  // namespace

Affine dense_rows_place(const Contraction& roles, const Nest& nest) {
  Affine out{DimList(nest.axes.size(), 0)};
  std::vector<int> axes = axes_of(roles.rows);
  for (const int x : axes_of(roles.depth)) axes.push_back(x);
  Dim step = 1;
  for (size_t k = axes.size(); k-- > 0;) {
    out.coefficients[axes[k]] = step;
    step = step * nest.axes[axes[k]].extent;
  }
  return out;
}

int lines_of(const Tiling& tiling, Tile tile) {
  const std::vector<JointAxis>& rows = tiling.roles.rows;
  return rows.size() > 1 && scale_moves(tiling, rows[rows.size() - 2]) ? 1 : lines_of(tile, rows);
}

bool walks_groups(const Tiling& tiling) {
  const Contraction& c = tiling.roles;
  const JointAxis& innermost = c.depth.back();
  if (c.group == 1) return true;
  const bool is_whole = mod(innermost.extent, Dim(c.group)) == Dim(0);
  return tiling.rows.coefficients[innermost.axes.back()] == Dim(1) && (is_whole || is_integer(c.sum));
}

std::optional<Tiling> tiling_of(const Group& group, const Plan& plan) {
  const Nest& nest = group.nests[0];
  if (!group.contraction()) return std::nullopt;
  const int axes = static_cast<int>(nest.axes.size());
  auto rows = rows_place(*group.contraction(), nest, plan);
  auto plain = affine_of(flat_of(nest.outputs[0], plan), axes);
  if (!rows || !plain) return std::nullopt;
  Tiling without_epilogue{*group.contraction(), std::move(*rows), scale_place(*group.contraction(), nest, plan), {std::move(*plain)}};
  if (auto tiling = with_epilogue(without_epilogue, group, plan)) return tiling;
  return join_axes(without_epilogue, plan) ? std::optional(std::move(without_epilogue)) : std::nullopt;
}

}  // namespace tenon::codegen
