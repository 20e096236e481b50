// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/quant/unpacked.h"

namespace tenon::ops::op_mat_mul_n_bits {

namespace {

enum Input : size_t { kA, kB, kScales, kZeros, kGroups, kBias };

struct Packing {
  int64_t bits, block, columns, inner;  ///< of a weight, along the inner axis, result columns, inner size

  int64_t blocks() const { return (inner + block - 1) / block; }
  double middle() const { return static_cast<double>(int64_t{1} << (bits - 1)); }
};

Packing packing_of(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  return {a.integer("bits", 4), a.integer("block_size", 0), a.integer("N", 0), a.integer("K", 0)};
}

/// Zero points, [N, blocks, 1]: packed like the weights, or one number of A's dtype for each block; where missing, the middle of the range.
ir::ValueId zeros(ir::Builder& build, const NodeView& view, ir::ValueId given, const Packing& p, DType wide) {
  if (!view.has(kZeros)) return build.scalar(wide, p.middle());
  if (view.type(kZeros).dtype != DType::u8) return build("Reshape", {cast_to(build, given, wide), build.ints({p.columns, p.blocks(), 1})});
  const int64_t bytes = (p.blocks() * p.bits + 7) / 8;
  const ir::ValueId all = unpacked(build, build("Reshape", {given, build.ints({p.columns, bytes})}), p.bits);
  const ir::ValueId used = build("Slice", {all, build.ints({0}), build.ints({p.blocks()}), build.ints({1})});
  return build("Unsqueeze", {cast_to(build, used, wide), build.ints({2})});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const Packing p = packing_of(view);
  const DType dtype = view.type(kA).dtype, wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const ir::ValueId bytes = build("Reshape", {in[kB], build.ints({p.columns, p.blocks() * p.block * p.bits / 8})});
  const ir::ValueId numbers = cast_to(build, unpacked(build, bytes, p.bits), wide);
  const ir::ValueId blocks = build("Reshape", {numbers, build.ints({p.columns, p.blocks(), p.block})});
  const ir::ValueId centred = build("Sub", {blocks, zeros(build, view, view.has(kZeros) ? in[kZeros] : ir::ValueId{}, p, wide)});
  const ir::ValueId scales = build("Reshape", {cast_to(build, in[kScales], wide), build.ints({p.columns, p.blocks(), 1})});
  const ir::ValueId rows = build("Reshape", {build("Mul", {centred, scales}), build.ints({p.columns, p.blocks() * p.block})});
  const ir::ValueId used =
      p.blocks() * p.block == p.inner ? rows : build("Slice", {rows, build.ints({0}), build.ints({p.inner}), build.ints({1})});
  ir::ValueId y = build("MatMul", {cast_to(build, in[kA], wide), build("Transpose", {used}, {{"perm", Ints{1, 0}}})});
  if (view.has(kBias)) y = build("Add", {y, cast_to(build, in[kBias], wide)});
  return {cast_to(build, y, dtype)};
}

Result<void> infer(NodeView& view) {
  const Packing p = packing_of(view);
  if (view.attributes->integer("weight_prepacked", 0) != 0)
    return refuse(view, Code::not_supported, "not supported yet: weights packed for one kind of GPU").expected("weight_prepacked=0");
  if (view.has(kGroups)) return refuse(view, Code::not_supported, "not supported yet: g_idx");
  if (p.bits != 2 && p.bits != 4 && p.bits != 8)
    return refuse(view, Code::not_supported, "not supported yet: this number of bits").expected("2, 4 or 8").found(std::to_string(p.bits));
  constexpr int64_t kMost = int64_t{1} << 31;
  if (p.block < 16 || p.block > kMost || (p.block & (p.block - 1)) != 0)
    return refuse(view, Code::bad_attribute, "block_size must be a power of two, 16 at least").found(std::to_string(p.block));
  if (p.columns < 1 || p.columns > kMost || p.inner < 1 || p.inner > kMost)
    return refuse(view, Code::bad_attribute, "N and K are sizes").found(std::to_string(p.columns) + " and " + std::to_string(p.inner));
  TRY(require_dtype(view, kA, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, kA, kScales));
  TRY(require_dtype(view, kB, [](DType d) { return d == DType::u8; }, "u8"));
  TRY(require_rank(view, kA, 1, -1));
  if (view.type(kA).has_rank()) TRY(require_equal(view, view.type(kA).dim(-1), Dim(p.inner), "columns of A and K"));
  return infer_by_definition(view);
}

}  // namespace

/// A times the transpose of weights of 2, 4 or 8 bits, with a scale for every block of a row.
OP(mat_mul_n_bits) {
    .name = "MatMulNBits",
    .domain = "com.microsoft",
    .inputs = {{"A", "B", "scales", "zero_points?", "g_idx?", "bias?"}},
    .outputs = {{"Y"}},
    .attributes = {{"K: int!", "N: int!", "accuracy_level: int = 0", "bits: int = 4", "block_size: int!", "weight_prepacked: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[3,32], u8[5,2,8] in 0..255, f32[5,2]; K=32, N=5, block_size=16",
                 "f32[2,3,40], u8[5,2,16] in 0..255, f32[10], u8[5] in 0..255; K=40, N=5, block_size=32",
                 "f32[3,48], u8[4,3,8] in 0..255, f32[4,3], f32[4,3] in 0..15, _, f32[4]; K=48, N=4, block_size=16",
                 "f32[3,32], u8[5,2,16] in 0..255, f32[5,2], u8[5,2] in 0..255; K=32, N=5, block_size=16, bits=8",
                 "f32[3,32], u8[5,2,4] in 0..255, f32[5,2]; K=32, N=5, block_size=16, bits=2"}},
};

}  // namespace tenon::ops::op_mat_mul_n_bits
