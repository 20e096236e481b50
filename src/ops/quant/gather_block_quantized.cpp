// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/quant/unpacked.h"

namespace tenon::ops::op_gather_block_quantized {

namespace {

enum Input : size_t { kData, kIndices, kScales, kZeros };

struct Layout {
  int64_t bits, block;
  int gather_axis, quantize_axis;
  bool packed;  ///< 8 / bits elements of the last axis in a byte
};

Result<Layout> layout_of(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const int rank = view.rank(kData);
  const bool bytes = view.type(kData).dtype == DType::u8;
  return Layout{a.integer("bits", 4), a.integer("block_size", 128), TRY(normalise_axis(view, a.integer("gather_axis", 0), rank)),
                TRY(normalise_axis(view, a.integer("quantize_axis", 1), rank)), bytes && a.integer("bits", 4) != 8};
}

ir::ValueId spread_bytes(ir::Builder& build, ir::ValueId x, const Layout& l) { return l.packed ? unpacked(build, x, l.bits) : x; }

/// Repeats the number of each block of the quantized axis for each of its elements.
ir::ValueId repeated(ir::Builder& build, ir::ValueId x, const Layout& l, int64_t size) {
  Ints block_of(static_cast<size_t>(size));
  for (int64_t k = 0; k < size; ++k) block_of[static_cast<size_t>(k)] = k / l.block;
  return build("Gather", {x, build.ints(std::move(block_of))}, {{"axis", int64_t{l.quantize_axis}}});
}

bool sizes_known(const NodeView& view) {
  return ranks_known(view, {kData, kIndices, kScales}) && (!view.has(kZeros) || view.type(kZeros).has_rank());
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!sizes_known(view)) return {};
  const auto layout = layout_of(view);
  if (!layout || !view.type(kData).dim(layout->quantize_axis).is_number()) return {};
  const Layout& l = *layout;
  const DType wide = view.type(kScales).dtype;
  const bool widened = l.packed && l.quantize_axis == view.rank(kData) - 1;
  const int64_t size = view.type(kData).dim(l.quantize_axis).value() * (widened ? 8 / l.bits : 1);
  const ir::ValueId numbers = cast_to(build, spread_bytes(build, in[kData], l), wide);
  const double middle = view.type(kData).dtype == DType::u8 ? static_cast<double>(int64_t{1} << (l.bits - 1)) : 0;
  ir::ValueId zeros = build.scalar(wide, middle);
  if (view.has(kZeros)) {
    // Two packed zero points share a byte: the number of blocks is rounded up to even.
    const ir::ValueId all = cast_to(build, spread_bytes(build, in[kZeros], l), wide);
    zeros = repeated(build, all, l, size);
  }
  const ir::ValueId values = build("Mul", {build("Sub", {numbers, zeros}), repeated(build, in[kScales], l, size)});
  return {build("Gather", {values, in[kIndices]}, {{"axis", int64_t{l.gather_axis}}})};
}

Result<void> infer(NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const int64_t bits = a.integer("bits", 4), block = a.integer("block_size", 128);
  if (bits != 4 && bits != 8 && bits != 2)
    return refuse(view, Code::not_supported, "not supported yet: this number of bits")
        .expected("bits=2, 4 or 8")
        .found(std::to_string(bits));
  if (block < 16 || (block & (block - 1)) != 0)
    return refuse(view, Code::bad_attribute, "block_size must be a power of two, 16 at least").found(std::to_string(block));
  TRY(require_dtype(
      view, kData, [](DType d) { return d == DType::u8 || d == DType::u4 || d == DType::i4 || d == DType::u2 || d == DType::i2; },
      "u8, or integers of 4 or 2 bits"));
  TRY(require_dtype(view, kIndices, is_index, "i32 or i64"));
  TRY(require_dtype(view, kScales, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, kData, 2, -1));
  set_output(view, 0, Type(dtype_of(view, kScales)));
  if (!sizes_known(view)) return {};
  for (size_t k : {kScales, kZeros})
    if (view.has(k)) TRY(require_rank(view, k, view.rank(kData)));
  TRY(layout_of(view));
  TRY(infer_by_definition(view));
  if (view.outputs[0].dtype != dtype_of(view, kScales)) set_output(view, 0, Type(dtype_of(view, kScales)));
  return {};
}

}  // namespace

/// Gathers rows of a table that is quantized to few bits, with a scale for each block of an axis.
OP(gather_block_quantized) {
    .name = "GatherBlockQuantized",
    .domain = "com.microsoft",
    .inputs = {{"data", "indices", "scales", "zero_points?"}},
    .attributes = {{"bits: int = 4", "block_size: int = 128", "gather_axis: int = 0", "quantize_axis: int = 1"}},
    .infer = infer,
    .definition = define,
    .samples = {{"u8[6,16] in 0..255, i64[2,3] in 0..5, f32[6,2]; block_size=16",
                 "u8[6,16] in 0..255, i32[3] in -6..5, f32[6,2], u8[6,1] in 0..255; block_size=16",
                 "u8[6,40] in 0..255, i64[2] in 0..5, f16[6,2], u8[6,2] in 0..255; block_size=32, bits=8",
                 "i4[5,32] in -8..7, i64[4] in 0..4, f32[5,2], i4[5,2] in -8..7; block_size=16",
                 "u4[32,3] in 0..15, i64[2] in 0..2, f32[2,3], u4[2,3] in 0..15; block_size=16, gather_axis=1, quantize_axis=0"}},
};

}  // namespace tenon::ops::op_gather_block_quantized
