// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/granularity.h"

#include "ops/form/indices.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

Result<Granularity> granularity_of(const NodeView& view, int rank, int scale_rank) {
  Granularity g;
  g.block = view.attributes->integer("block_size", 0);
  const bool one_number = scale_rank == 1 && view.type(1).has_rank() && view.type(1).dim(0) == Dim(1);
  if (scale_rank == 0 || (one_number && g.block == 0)) return g;
  g.kind = g.block > 0 ? Granularity::Kind::block : Granularity::Kind::axis;
  if (g.kind == Granularity::Kind::axis && rank == 0) {
    g.kind = Granularity::Kind::tensor;
    return g;
  }
  const int64_t axis = view.attributes->integer("axis", 1);
  // For a vector, whose default axis 1 does not exist, its only axis is used.
  g.axis = TRY(normalise_axis(view, rank == 1 && !view.attributes->has("axis") ? 0 : axis, rank));
  if (g.kind == Granularity::Kind::block && scale_rank != rank)
    return refuse(view, Code::rank_mismatch, "blocked scales need the data's rank");
  return g;
}

Result<void> require_parameter_sizes(const NodeView& view, size_t scale, size_t zero_point) {
  if (!ranks_known(view, {0, scale})) return {};
  const DimList &data = *view.type(0).shape, &own = *view.type(scale).shape;
  const Granularity granularity = TRY(granularity_of(view, view.rank(0), view.rank(scale)));
  if (granularity.kind == Granularity::Kind::axis) {
    TRY(require_rank(view, scale, 1));
    TRY(require_broadcastable(view, own[0], data[static_cast<size_t>(granularity.axis)],
                              "the numbers of scales and the size of their axis"));
  } else if (granularity.kind == Granularity::Kind::block) {
    DimList blocks = data;
    Dim& along = blocks[static_cast<size_t>(granularity.axis)];
    along = ceil_div(along, granularity.block);
    TRY(require_broadcastable(view, own, blocks, "the numbers of scales and of blocks"));
  }
  if (!view.has(zero_point) || !view.type(zero_point).has_rank()) return {};
  if (granularity.kind == Granularity::Kind::tensor)
    return require_equal(view, view.type(zero_point).count(), 1, "the number of zero points and 1");
  TRY(require_rank(view, zero_point, view.rank(scale)));
  return require_equal(view, *view.type(zero_point).shape, own, "sizes of scale and zero point");
}

std::vector<Expr> parameter_index(const Granularity& granularity, const NodeView& view, size_t input) {
  const DimList &data = *view.type(0).shape, &own = *view.type(input).shape;
  if (granularity.kind == Granularity::Kind::tensor || own.empty()) return std::vector<Expr>(own.size(), index_constant(0));
  if (granularity.kind == Granularity::Kind::axis)
    return broadcast_index(own, {data[static_cast<size_t>(granularity.axis)]}, granularity.axis);
  DimList blocks = data;
  blocks[static_cast<size_t>(granularity.axis)] = ceil_div(blocks[static_cast<size_t>(granularity.axis)], granularity.block);
  std::vector<Expr> index = broadcast_index(own, blocks);
  Expr& along = index[static_cast<size_t>(granularity.axis)];
  if (own[static_cast<size_t>(granularity.axis)].known_equal(1)) along = index_constant(0);
  else along = Expr::axis(granularity.axis) / index_constant(granularity.block);
  return index;
}

int64_t parameter_position(const Granularity& granularity, const Sizes& at, const Sizes& scale_shape) {
  if (granularity.kind == Granularity::Kind::tensor || count_of(scale_shape) == 1) return 0;
  const size_t axis = static_cast<size_t>(granularity.axis);
  if (granularity.kind == Granularity::Kind::axis) return at[axis];
  Sizes place = at;
  place[axis] /= granularity.block;
  return offset_of(place, strides_of(scale_shape));
}

Result<DType> quantized_dtype(const NodeView& view, size_t input, DType otherwise) {
  if (const int64_t wanted = view.attributes->integer("output_dtype", 0)) {
    const auto dtype = dtype_from_onnx(wanted);
    if (!dtype) return refuse(view, Code::bad_attribute, "'output_dtype' names no dtype");
    return *dtype;
  }
  const DType found = dtype_of(view, input);
  return found == DType::none && !view.has(input) ? otherwise : found;
}

std::pair<double, double> integer_range(DType dtype) {
  const int bits = bits_of(dtype);
  return is_signed(dtype) ? std::pair(-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1)
                          : std::pair(0.0, std::ldexp(1.0, bits) - 1);
}

}  // namespace tenon::ops
