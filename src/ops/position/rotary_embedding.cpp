// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/precision.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_rotary_embedding {

namespace {

/// Sizes of the operand as [batch, sequence, heads, size], for either layout (3D or 4D).
struct RotarySizes {
  bool merged_heads = false;  ///< stored as [batch, sequence, heads * size], else as [batch, heads, sequence, size]
  Dim batch, sequence, heads, size, half;
};

Result<RotarySizes> sizes_of(const NodeView& view) {
  const Type& x = view.type(0);
  RotarySizes s;
  s.merged_heads = x.rank() == 3;
  s.batch = x.dim(0);
  s.sequence = x.dim(s.merged_heads ? 1 : 2);
  const int64_t heads = view.attributes->integer("num_heads", 0), rotated_size = view.attributes->integer("rotary_embedding_dim", 0);
  if (s.merged_heads && heads < 1)
    return refuse(view, Code::bad_attribute, "an operand of rank 3 needs num_heads").expected("a positive number");
  s.heads = s.merged_heads ? Dim(heads) : x.dim(1);
  s.size = s.merged_heads ? floor_div(x.dim(2), heads) : x.dim(3);
  s.half = rotated_size > 0 ? Dim(rotated_size / 2) : floor_div(s.size, 2);
  return s;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 3, 4));
  for (size_t k : {1, 2}) TRY(require_rank(view, k, view.has(3) ? 2 : 3));
  if (view.has(3)) TRY(require_rank(view, 3, 2));
  if (ranks_known(view, {0, 1, 2})) {
    const RotarySizes s = TRY(sizes_of(view));
    for (size_t k : {1, 2})
      TRY(require_equal(view, view.type(k).dim(-1), s.half, "last dimension of the cache and half of the rotated size"));
    if (s.merged_heads) TRY(require_equal(view, s.size * s.heads, view.type(0).dim(2), "hidden size and a multiple of num_heads"));
    TRY(require_at_least(view, s.size, s.half * 2, "more is rotated than a head has"));
    const Dim batch = s.batch, sequence = s.sequence;
    if (view.has(3)) TRY(require_broadcastable(view, 3, {batch, sequence}));
    for (size_t k : {1, 2})
      if (!view.has(3)) TRY(require_sizes(view, k, {view.type(k).dim(0).known_equal(1) ? Dim(1) : batch, sequence, s.half}));
    TRY(require_sizes(view, 2, *view.type(1).shape));
    if (view.has(3) && view.type(3).has_rank()) TRY(require_equal(view, view.type(3).dim(1), sequence, "positions and the sequence"));
  }
  set_output(view, 0, view.type(0));
  return {};
}

/// The loop of the first (real) or second (imaginary) half of the rotated elements: cos * a - sin * b, or sin * a + cos * b.
Loop half_loop(const NodeView& view, const RotarySizes& s, bool imaginary) {
  Loop loop;
  const DimList space = s.merged_heads ? DimList{s.batch, s.sequence, s.heads, s.half} : DimList{s.batch, s.heads, s.sequence, s.half};
  loop.axes = parallel_axes(space);
  const Expr b = Expr::axis(0), position = Expr::axis(s.merged_heads ? 1 : 2), head = Expr::axis(s.merged_heads ? 2 : 1), j = Expr::axis(3);
  const bool interleaved = view.attributes->integer("interleaved", 0) != 0;
  auto element = [&](bool second) {
    const Expr d = interleaved ? j * index_constant(2) + index_constant(second) : second ? j + size_expr(s.half) : j;
    if (s.merged_heads) return std::vector<Expr>{b, position, head * size_expr(s.size) + d};
    return std::vector<Expr>{b, head, position, d};
  };
  std::vector<Expr> angle;
  if (view.has(3)) {
    const Expr batch = broadcast_index({view.type(3).dim(0)}, {s.batch})[0];
    angle = {wrapped_index(load(loop, operand_access(view, 3, {batch, position})), view.type(1).dim(0)), j};
  } else {
    angle = {broadcast_index({view.type(1).dim(0)}, {s.batch})[0], position, j};
  }
  const Expr cosine = to_compute_dtype(load(loop, operand_access(view, 1, angle))),
             sine = to_compute_dtype(load(loop, operand_access(view, 2, angle)));
  const Expr first = to_compute_dtype(load(loop, operand_access(view, 0, element(false)))),
             second = to_compute_dtype(load(loop, operand_access(view, 0, element(true))));
  Output out =
      full_output(view.type(0).dtype, *view.type(0).shape, imaginary ? sine * first + cosine * second : cosine * first - sine * second);
  out.index = element(imaginary);
  out.partial = true;
  loop.outputs.push_back(std::move(out));
  return loop;
}

/// The loop that copies the elements of a head after the rotated ones.
Loop unrotated_loop(const NodeView& view, const RotarySizes& s) {
  Loop loop;
  const Dim rest = s.size - s.half * 2;
  loop.axes = parallel_axes(s.merged_heads ? DimList{s.batch, s.sequence, s.heads, rest} : DimList{s.batch, s.heads, s.sequence, rest});
  const Expr d = Expr::axis(3) + size_expr(s.half * 2);
  std::vector<Expr> at = axis_indices(3);
  if (s.merged_heads) at[2] = at[2] * size_expr(s.size) + d;
  else at.push_back(d);
  Output out = full_output(view.type(0).dtype, *view.type(0).shape, load(loop, operand_access(view, 0, at)));
  out.index = at;
  out.partial = true;
  loop.outputs.push_back(std::move(out));
  return loop;
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const RotarySizes s = TRY(sizes_of(view));
  std::vector<Loop> loops{half_loop(view, s, false), half_loop(view, s, true)};
  if (!(s.size - s.half * 2).known_equal(0)) loops.push_back(unrotated_loop(view, s));
  return loop_sequence_form(std::move(loops));
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const bool merged_heads = t.rank() == 3, interleaved = call.view.attributes->integer("interleaved", 0) != 0;
  const int64_t batch = t.shape()[0], sequence = t.shape()[merged_heads ? 1 : 2];
  const int64_t heads = merged_heads ? call.view.attributes->integer("num_heads", 1) : t.shape()[1];
  const int64_t size = merged_heads ? t.shape()[2] / heads : t.shape()[3];
  int64_t rotated_size = call.view.attributes->integer("rotary_embedding_dim", 0);
  if (rotated_size == 0) rotated_size = size;
  const std::vector<double> x = numbers_of(t), cosine = numbers_of(*call.in[1]), sine = numbers_of(*call.in[2]);
  const Ints positions = ints_of(call, 3);
  const int64_t half = rotated_size / 2;
  std::vector<double> y = x;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t p = 0; p < sequence; ++p) {
      int64_t row = (call.in[1]->shape()[0] == 1 ? 0 : b) * sequence + p;
      if (call.has(3))
        row = TRY(wrap_index(call.view, positions[(call.in[3]->shape()[0] == 1 ? 0 : b) * sequence + p], call.in[1]->shape()[0]));
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t base = (merged_heads ? (b * sequence + p) * heads + h : (b * heads + h) * sequence + p) * size;
        for (int64_t j = 0; j < half; ++j) {
          const int64_t first = base + (interleaved ? 2 * j : j), second = base + (interleaved ? 2 * j + 1 : j + half);
          const double c = cosine[row * half + j], s = sine[row * half + j];
          y[first] = c * x[first] - s * x[second];
          y[second] = s * x[first] + c * x[second];
        }
      }
    }
  }
  store_numbers(*TRY(call.make(0, t.shape())), y);
  return {};
}

/// Elements begin, begin + step, ... of the last axis, before `end`.
ir::ValueId slice_last_axis(ir::Builder& build, ir::ValueId x, int64_t begin, int64_t end, int64_t step = 1) {
  return build("Slice", {x, build.ints({begin}), build.ints({end}), build.ints({-1}), build.ints({step})});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {0, 1, 2})) return {};
  const auto sizes = sizes_of(view);
  if (!sizes || !sizes->half.is_number() || (sizes->merged_heads && !sizes->heads.is_number())) return {};
  const int64_t half = sizes->half.value(), rotated_size = 2 * half;
  const bool interleaved = view.attributes->integer("interleaved", 0) != 0;
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype);
  ir::ValueId x = as_dtype(build, in[0], dtype, wide);
  if (sizes->merged_heads) x = build("Reshape", {x, build.ints({0, 0, sizes->heads.value(), -1})});
  const auto angle = [&](size_t k) {
    const ir::ValueId rows = view.has(3) ? build("Gather", {in[k], in[3]}) : in[k];
    return as_dtype(build, build("Unsqueeze", {rows, build.ints({sizes->merged_heads ? 2 : 1})}), dtype, wide);
  };
  const ir::ValueId cosine = angle(1), sine = angle(2);
  const ir::ValueId a = interleaved ? slice_last_axis(build, x, 0, rotated_size, 2) : slice_last_axis(build, x, 0, half);
  const ir::ValueId b = interleaved ? slice_last_axis(build, x, 1, rotated_size, 2) : slice_last_axis(build, x, half, rotated_size);
  ir::ValueId first = build("Sub", {build("Mul", {cosine, a}), build("Mul", {sine, b})});
  ir::ValueId second = build("Add", {build("Mul", {sine, a}), build("Mul", {cosine, b})});
  if (interleaved) {
    first = build("Unsqueeze", {first, build.ints({-1})});
    second = build("Unsqueeze", {second, build.ints({-1})});
  }
  ir::ValueId y = build("Concat", {first, second}, {{"axis", int64_t{-1}}});
  if (interleaved) y = build("Reshape", {y, build.ints({0, 0, 0, rotated_size})});
  if (!sizes->size.known_equal(rotated_size))
    y = build("Concat", {y, slice_last_axis(build, x, rotated_size, INT64_MAX)}, {{"axis", int64_t{-1}}});
  if (sizes->merged_heads) y = build("Reshape", {y, build.ints({0, 0, -1})});
  return {as_dtype(build, y, wide, dtype)};
}

}  // namespace

OP(rotary_embedding) {
    .name = "RotaryEmbedding",
    .since_version = 23,
    .inputs = {{"X", "cos_cache", "sin_cache", "position_ids?"}},
    .outputs = {{"Y"}},
    .attributes = {{"interleaved: int = 0", "num_heads: int = 0", "rotary_embedding_dim: int = 0"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .definition = define,
    .first_opset = 23,
    .samples = {{"f32[2,4,3,8], f32[50,4], f32[50,4], i64[2,3] in 0..49", "f32[2,3,32], f32[2,3,4], f32[2,3,4]; num_heads=4",
                 "f32[2,4,3,8], f32[50,4], f32[50,4], i64[2,3] in 0..49; interleaved=1",
                 "f32[2,4,3,8], f32[2,3,2], f32[2,3,2]; rotary_embedding_dim=4", "f16[1,2,5,4], f16[9,2], f16[9,2], i64[1,5] in 0..8",
                 "f32[1,3,24], f32[9,2], f32[9,2], i64[1,3] in 0..8; num_heads=4, rotary_embedding_dim=4, interleaved=1"}},
};

}  // namespace tenon::ops::op_rotary_embedding
