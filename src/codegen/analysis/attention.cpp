// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/attention.h"

#include <cmath>
#include <limits>

#include "ops/attention/ragged.h"
#include "ops/attention/scores.h"

namespace tenon::codegen {

namespace {

Expr axis(int a) { return Expr::axis(a); }

bool float_of_rank(const ir::NodeView& view, size_t k, int rank) {
  return view.has(k) && view.type(k).dtype == DType::f32 && view.type(k).has_rank() && view.rank(k) == rank;
}

/// Whether the number of query heads (axis `heads`) is a multiple of that of key heads, and head sizes are static and at most 512.
bool heads_fit(const ir::NodeView& view, int heads) {
  const auto heads_q = view.type(0).dim(heads).number(), heads_k = view.type(1).dim(heads).number();
  if (!heads_q || !heads_k || *heads_k == 0 || *heads_q % *heads_k != 0) return false;
  const Dim size = view.type(0).dim(-1), value_size = view.type(2).dim(-1);
  if (!size.is_number() || !value_size.is_number() || !size.known_equal(view.type(1).dim(-1))) return false;
  return size.value() <= 512 && value_size.value() <= 512 && size.value() >= 1;
}

bool is_mask(const ir::Type& mask, int least_rank, int most_rank) {
  return mask.has_rank() && mask.rank() >= least_rank && mask.rank() <= most_rank &&
         (mask.dtype == DType::f32 || mask.dtype == DType::boolean);
}

}  // namespace

bool attention_fits(const ir::NodeView& view) {
  for (size_t k = 0; k < 3; ++k)
    if (!float_of_rank(view, k, 4)) return false;
  if (view.has(ops::kPastKey) || view.has(ops::kPastValue)) return false;
  for (size_t k = 1; k < view.outputs.size(); ++k)
    if (view.outputs[k].dtype != DType::none) return false;
  if (!heads_fit(view, 1)) return false;
  if (view.has(ops::kNonpad) && !(view.type(ops::kNonpad).has_rank() && view.type(ops::kNonpad).dim(0).known_equal(view.type(0).dim(0))))
    return false;
  // A mask with fewer columns than keys would hide the others, even with one column.
  return !view.has(3) || (is_mask(view.type(3), 2, 4) && view.type(3).dim(-1).known_equal(view.type(1).dim(2)));
}

double attention_scale(const ir::NodeView& view) {
  const double given = view.attributes->number("scale", 0);
  return view.attributes->has("scale") ? given : 1.0 / std::sqrt(static_cast<double>(view.type(0).dim(-1).value()));
}

namespace {

Expr query_head(const ir::NodeView& view) {
  const Dim sharing = floor_div(view.type(0).dim(1), view.type(1).dim(1));
  return simplify(axis(kKeyHead) * Expr::dim(sharing) + axis(kSharing));
}

NestAccess access_to(ArrayId array, DType dtype, std::vector<Expr> index) { return {array, dtype, std::move(index), {}, {}, {}}; }

/// The index of a score's element in the mask, which broadcasts to [batch, heads, queries, keys].
std::vector<Expr> mask_index(const ir::NodeView& view) {
  const ir::Type& mask = view.type(3);
  const Expr own[4] = {axis(kBatch), query_head(view), axis(kQuery), axis(kKey)};
  const Dim full[4] = {view.type(0).dim(0), view.type(0).dim(1), view.type(0).dim(2), view.type(1).dim(2)};
  std::vector<Expr> index;
  for (int d = 0; d < mask.rank(); ++d) {
    const int place = 4 - mask.rank() + d;
    const Dim extent = mask.dim(d);
    // A dimension that may be 1 at run time gets a step that is 0 then.
    const bool whole = extent.is_number() || extent == full[place];
    const Dim step = extent == Dim(1) ? Dim(0) : whole ? Dim(1) : select(equal_to(extent, 1), 0, 1);
    index.push_back(step == Dim(1) ? own[place] : simplify(own[place] * Expr::dim(step)));
  }
  return index;
}

/// The score of a hidden key.
Expr minus_infinity() { return Expr::constant(DType::f32, -std::numeric_limits<double>::infinity()); }

/// Applies the mask (operand `mask` of the node, Expr::input(3)) to the score: -inf where the key is hidden from the query.
Expr masked_score(const ir::NodeView& view, size_t mask, const Expr& score) {
  if (!view.has(mask)) return score;
  const bool chooses = view.type(mask).dtype == DType::boolean;
  return chooses ? select(Expr::input(3, DType::boolean), score, minus_infinity()) : score + Expr::input(3, DType::f32);
}

/// The score, or -inf where the positions of query and key hide the key (causal masks, windows). length: number of keys of the sequence, of
/// which the last ones belong to the queries; null: all keys, of which the first ones belong to the queries.
Expr hidden_by_places(const ir::NodeView& view, const Expr& length, Expr score) {
  const int64_t left = view.attributes->integer("left_window_size", -1), right = view.attributes->integer("right_window_size", -1);
  const Expr query = length ? axis(kQuery) + (length - Expr::dim(view.type(0).dim(2))) : axis(kQuery);
  if (length) score = select(axis(kKey) < length, score, minus_infinity());
  if (view.attributes->integer("is_causal", 0) != 0) score = select(axis(kKey) <= query, score, minus_infinity());
  if (left >= 0) score = select(query - axis(kKey) <= Expr::integer(DType::i64, left), score, minus_infinity());
  if (right >= 0) score = select(axis(kKey) - query <= Expr::integer(DType::i64, right), score, minus_infinity());
  return score;
}

Expr capped_product(const ir::NodeView& view) {
  const Expr product = Expr::input(0, DType::f32);
  const double cap = view.attributes->number("softcap", 0);
  return cap > 0 ? tanh(product / cap) * cap : product;
}

NestOutput output_to(ArrayId result, Expr value, std::vector<Expr> index) {
  NestOutput out;
  out.array = result;
  out.dtype = DType::f32;
  out.value = std::move(value);
  out.index = std::move(index);
  return out;
}

}  // namespace

Nest attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result) {
  using Kind = ops::Axis::Kind;
  const Dim key_heads = view.type(1).dim(1);
  Nest nest;
  nest.axes = {{Kind::parallel, view.type(0).dim(0)},
               {Kind::parallel, key_heads},
               {Kind::parallel, floor_div(view.type(0).dim(1), key_heads)},
               {Kind::parallel, view.type(0).dim(2)},
               {Kind::reduced, view.type(1).dim(2)},
               {Kind::reduced, view.type(0).dim(3)},
               {Kind::parallel, view.type(2).dim(3)}};
  const Expr head = query_head(view);
  nest.accesses = {access_to(arrays[0], DType::f32, {axis(kBatch), head, axis(kQuery), axis(kHeadSize)}),
                   access_to(arrays[1], DType::f32, {axis(kBatch), axis(kKeyHead), axis(kKey), axis(kHeadSize)}),
                   access_to(arrays[2], DType::f32, {axis(kBatch), axis(kKeyHead), axis(kKey), axis(kValueSize)})};
  if (view.has(3)) nest.accesses.push_back(access_to(arrays[3], view.type(3).dtype, mask_index(view)));
  Expr length;
  if (view.has(ops::kNonpad)) {
    // Clamped, so that places computed from it do not overflow.
    const Expr given = Expr::input(static_cast<int>(nest.accesses.size()), DType::i64),
               beyond = Expr::integer(DType::i64, int64_t{1} << 40);
    length = min(max(given, Expr::integer(DType::i64, -(int64_t{1} << 40))), beyond);
    nest.accesses.push_back(access_to(arrays[ops::kNonpad], DType::i64, {axis(kBatch)}));
  }
  const Expr score = hidden_by_places(view, length, masked_score(view, 3, capped_product(view)));
  nest.outputs.push_back(output_to(result, score, {axis(kBatch), head, axis(kQuery), axis(kValueSize)}));
  return nest;
}

bool ragged_attention_fits(const ir::NodeView& view) {
  for (size_t k = 0; k < 3; ++k)
    if (!float_of_rank(view, k, 3)) return false;
  const bool has_longest = view.inputs[ops::kLongest].data && view.inputs[ops::kLongest].data->size() == 1;
  const bool mask_fits = !view.has(ops::kRaggedMask) || is_mask(view.type(ops::kRaggedMask), 1, 1);
  return has_longest && mask_fits && heads_fit(view, 1);
}

Nest ragged_attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result) {
  using Kind = ops::Axis::Kind;
  const Dim key_heads = view.type(1).dim(1);
  Nest nest;
  nest.axes = {{Kind::parallel, view.type(ops::kQueryStarts).dim(0) - Dim(1)},
               {Kind::parallel, key_heads},
               {Kind::parallel, floor_div(view.type(0).dim(1), key_heads)},
               {Kind::parallel, view.type(0).dim(0)},
               {Kind::reduced, view.type(1).dim(0)},
               {Kind::reduced, view.type(0).dim(2)},
               {Kind::parallel, view.type(2).dim(2)}};
  const Expr head = query_head(view);
  nest.accesses = {access_to(arrays[0], DType::f32, {axis(kQuery), head, axis(kHeadSize)}),
                   access_to(arrays[1], DType::f32, {axis(kKey), axis(kKeyHead), axis(kHeadSize)}),
                   access_to(arrays[2], DType::f32, {axis(kKey), axis(kKeyHead), axis(kValueSize)})};
  if (view.has(ops::kRaggedMask))
    nest.accesses.push_back(access_to(arrays[ops::kRaggedMask], view.type(ops::kRaggedMask).dtype, {axis(kKey)}));
  nest.outputs.push_back(
      output_to(result, masked_score(view, ops::kRaggedMask, capped_product(view)), {axis(kQuery), head, axis(kValueSize)}));
  return nest;
}

}  // namespace tenon::codegen
