// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/quant/unpacked.h"

namespace tenon::ops::op_mat_mul_bnb4 {

namespace {

enum Input : size_t { kA, kB, kAbsmax };

/// The values of the 16 codes. Source: bitsandbytes (Dettmers et al., QLoRA, 2023): a float of 4 bits with 3 bits of exponent and
/// mantissa, and the quantiles of a normal distribution.
constexpr double kFloat4[] = {0.0,  5.208333333e-03,  0.66666667,  1.0,  0.33333333,  0.5,  0.16666667,  0.25,
                              -0.0, -5.208333333e-03, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNormalFloat4[] = {-1.0,
                                    -0.6961928009986877,
                                    -0.5250730514526367,
                                    -0.39491748809814453,
                                    -0.28444138169288635,
                                    -0.18477343022823334,
                                    -0.09105003625154495,
                                    0.0,
                                    0.07958029955625534,
                                    0.16093020141124725,
                                    0.24611230194568634,
                                    0.33791524171829224,
                                    0.44070982933044434,
                                    0.5626170039176941,
                                    0.7229568362236023,
                                    1.0};

ir::ValueId table_of(ir::Builder& build, int64_t type, DType dtype) {
  auto table = Tensor::make(dtype, {16});
  if (!table) {
    build.refuse(table.error());
    return {};
  }
  for (int64_t k = 0; k < 16; ++k) table->set_number(k, type == 0 ? kFloat4[k] : kNormalFloat4[k]);
  return build.constant(*std::move(table));
}

/// The two codes of each byte, that of the high bits first.
ir::ValueId codes_of(ir::Builder& build, ir::ValueId bytes) {
  const ir::ValueId flat = build("Reshape", {bytes, build.ints({-1})});
  const ir::ValueId high = build("BitShift", {flat, build.scalar(DType::u8, 4)}, {{"direction", std::string("RIGHT")}});
  const ir::ValueId low = build("BitwiseAnd", {flat, build.scalar(DType::u8, 15)});
  const auto column = [&](ir::ValueId x) { return build("Unsqueeze", {x, build.ints({1})}); };
  return build("Reshape", {build("Concat", {column(high), column(low)}, {{"axis", int64_t{1}}}), build.ints({-1})});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  const int64_t columns = a.integer("N", 0), inner = a.integer("K", 0), block = a.integer("block_size", 64), count = columns * inner;
  const DType dtype = view.type(kA).dtype, wide = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const ir::ValueId codes = sliced(build, codes_of(build, in[kB]), 0, 0, count);
  const ir::ValueId numbers = build("Gather", {table_of(build, a.integer("quant_type", 1), wide), cast_to(build, codes, DType::i64)});
  const ir::ValueId blocks = build("Unsqueeze", {cast_to(build, in[kAbsmax], wide), build.ints({1})});
  const ir::ValueId spread = build("Reshape", {build("Expand", {blocks, build.ints({1, block})}), build.ints({-1})});
  const ir::ValueId flat = build("Mul", {numbers, sliced(build, spread, 0, 0, count)});
  const bool transposed_weight = a.integer("transB", 1) != 0;
  ir::ValueId weight = build("Reshape", {flat, build.ints(transposed_weight ? ir::Ints{columns, inner} : ir::Ints{inner, columns})});
  if (transposed_weight) weight = build("Transpose", {weight}, {{"perm", ir::Ints{1, 0}}});
  return {cast_to(build, build("MatMul", {cast_to(build, in[kA], wide), weight}), dtype)};
}

Result<void> infer(NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const int64_t columns = a.integer("N", 0), inner = a.integer("K", 0), block = a.integer("block_size", 0),
                type = a.integer("quant_type", -1);
  constexpr int64_t kMost = int64_t{1} << 31;
  if (type != 0 && type != 1)
    return refuse(view, Code::not_supported, "not supported yet: this kind of numbers")
        .expected("quant_type=0 (FP4) or 1 (NF4)")
        .found(std::to_string(type));
  if (a.integer("training_mode", 0) != 0)
    return refuse(view, Code::not_supported, "not supported yet: training_mode").expected("training_mode=0").found("1");
  if (block < 16 || block > kMost || (block & (block - 1)) != 0)
    return refuse(view, Code::bad_attribute, "block_size must be a power of two, 16 at least").found(std::to_string(block));
  if (columns < 1 || columns > kMost || inner < 1 || inner > kMost)
    return refuse(view, Code::bad_attribute, "N and K are sizes").found(std::to_string(columns) + " and " + std::to_string(inner));
  const int64_t count = columns * inner;
  TRY(require_dtype(view, kA, is_arithmetic_float, "a float type"));
  TRY(require_dtype(view, kB, [](DType d) { return d == DType::u8; }, "u8"));
  TRY(require_same_dtype(view, kA, kAbsmax));
  TRY(require_rank(view, kA, 1, -1));
  TRY(require_sizes(view, kAbsmax, {Dim((count + block - 1) / block)}));
  if (view.type(kB).has_rank() && view.rank(kB) == 1) TRY(require_sizes(view, kB, {Dim((count + 1) / 2)}));
  if (view.type(kA).has_rank()) TRY(require_equal(view, view.type(kA).dim(-1), Dim(inner), "columns of A and K"));
  return infer_by_definition(view);
}

}  // namespace

/// A times a matrix of 4-bit codes, quantized in blocks, each scaled by its largest magnitude.
OP(mat_mul_bnb4) {
    .name = "MatMulBnb4",
    .domain = "com.microsoft",
    .inputs = {{"A", "B", "absmax"}},
    .outputs = {{"Y"}},
    .attributes = {{"K: int!", "N: int!", "block_size: int!", "quant_type: int!", "training_mode: int = 0", "transB: int = 1"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[3,32], u8[80] in 0..255, f32[10]; K=32, N=5, block_size=16, quant_type=1",
                 "f32[2,3,32], u8[80] in 0..255, f32[5]; K=32, N=5, block_size=32, quant_type=0",
                 "f32[3,5], u8[8] in 0..255, f32[1]; K=5, N=3, block_size=16, quant_type=1",
                 "f16[3,32], u8[80] in 0..255, f16[10]; K=32, N=5, block_size=16, quant_type=1, transB=0"}},
};

}  // namespace tenon::ops::op_mat_mul_bnb4
