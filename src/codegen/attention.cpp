// SPDX-License-Identifier: Apache-2.0
#include "codegen/attention.h"

#include <cmath>
#include <limits>

namespace tenon::codegen {

namespace {

Expr axis(int a) { return Expr::axis(a); }

bool float_rank_4(const ir::NodeView& view, size_t k) {
  return view.has(k) && view.type(k).dtype == DType::f32 && view.type(k).has_rank() && view.rank(k) == 4;
}

}  // namespace

bool attention_fits(const ir::NodeView& view) {
  for (size_t k = 0; k < 3; ++k)
    if (!float_rank_4(view, k)) return false;
  for (size_t k = 4; k < view.inputs.size(); ++k)
    if (view.has(k)) return false;
  for (size_t k = 1; k < view.outputs.size(); ++k)
    if (view.outputs[k].dtype != DType::none) return false;
  if (view.attributes->number("softcap", 0) != 0) return false;
  for (const char* window : {"left_window_size", "right_window_size"})
    if (view.attributes->integer(window, -1) >= 0) return false;
  const auto heads_q = view.type(0).dim(1).number(), heads_k = view.type(1).dim(1).number();
  if (!heads_q || !heads_k || *heads_k == 0 || *heads_q % *heads_k != 0) return false;
  if (!view.type(0).dim(3).is_number() || !view.type(2).dim(3).is_number()) return false;
  if (!view.type(0).dim(3).known_equal(view.type(1).dim(3))) return false;
  if (view.type(0).dim(3).value() > 512 || view.type(2).dim(3).value() > 512 || view.type(0).dim(3).value() < 1) return false;
  if (!view.has(3)) return true;
  const ir::Type& mask = view.type(3);
  if (!mask.has_rank() || mask.rank() > 4 || mask.rank() < 2 || !(mask.dtype == DType::f32 || mask.dtype == DType::boolean)) return false;
  return mask.dim(-1).known_equal(view.type(1).dim(2)) || mask.dim(-1) == Dim(1);
}

double attention_scale(const ir::NodeView& view) {
  const double given = view.attributes->number("scale", 0);
  return view.attributes->has("scale") ? given : 1.0 / std::sqrt(static_cast<double>(view.type(0).dim(3).value()));
}

Nest attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result) {
  using Kind = ops::Axis::Kind;
  const Dim key_heads = view.type(1).dim(1);
  const Dim sharing = floor_div(view.type(0).dim(1), key_heads);
  Nest nest;
  nest.axes = {{Kind::parallel, view.type(0).dim(0)}, {Kind::parallel, key_heads},          {Kind::parallel, sharing},
               {Kind::parallel, view.type(0).dim(2)}, {Kind::reduced, view.type(1).dim(2)}, {Kind::reduced, view.type(0).dim(3)},
               {Kind::parallel, view.type(2).dim(3)}};
  const Expr head = simplify(axis(kKeyHead) * Expr::dim(sharing) + axis(kSharing));
  auto add = [&](ArrayId a, DType dtype, std::vector<Expr> index) {
    NestAccess access;
    access.array = a;
    access.dtype = dtype;
    access.index = std::move(index);
    nest.accesses.push_back(std::move(access));
  };
  add(arrays[0], DType::f32, {axis(kBatch), head, axis(kQuery), axis(kHeadSize)});
  add(arrays[1], DType::f32, {axis(kBatch), axis(kKeyHead), axis(kKey), axis(kHeadSize)});
  add(arrays[2], DType::f32, {axis(kBatch), axis(kKeyHead), axis(kKey), axis(kValueSize)});
  Expr score = Expr::input(0, DType::f32);
  const Expr nothing = Expr::constant(DType::f32, -std::numeric_limits<double>::infinity());
  if (view.has(3)) {
    const ir::Type& mask = view.type(3);
    const Expr own[4] = {axis(kBatch), head, axis(kQuery), axis(kKey)};
    std::vector<Expr> index;
    for (int d = 0; d < mask.rank(); ++d) {
      const Expr& at = own[4 - mask.rank() + d];
      const Dim extent = mask.dim(d);
      // A size that only the run knows to be 1 is walked with a step of 0.
      const Dim step = extent == Dim(1) ? Dim(0) : extent.is_number() ? Dim(1) : select(equal_to(extent, 1), 0, 1);
      index.push_back(step == Dim(1) ? at : simplify(at * Expr::dim(step)));
    }
    add(arrays[3], mask.dtype, std::move(index));
    score = mask.dtype == DType::boolean ? select(Expr::input(3, DType::boolean), score, nothing) : score + Expr::input(3, DType::f32);
  }
  if (view.attributes->integer("is_causal", 0) != 0) score = select(axis(kKey) <= axis(kQuery), score, nothing);
  NestOutput out;
  out.array = result;
  out.dtype = DType::f32;
  out.value = score;
  out.index = {axis(kBatch), head, axis(kQuery), axis(kValueSize)};
  nest.outputs.push_back(std::move(out));
  return nest;
}

}  // namespace tenon::codegen
