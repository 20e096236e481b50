// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/contract/product.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_col2im {

namespace {

/// The number of positions of the block in the image along each axis.
Result<Dim> columns_of(const NodeView& view, const ShapeData& image, const ShapeData& block) {
  const size_t n = image.size();
  const ir::Attributes& a = *view.attributes;
  const Ints stride = a.ints("strides", Ints(n, 1)), dilation = a.ints("dilations", Ints(n, 1)), pads = a.ints("pads", Ints(2 * n, 0));
  const bool positive = std::ranges::all_of(stride, [](int64_t s) { return s > 0; });
  if (block.size() != n || stride.size() != n || dilation.size() != n || pads.size() != 2 * n || !positive)
    return refuse(view, Code::bad_attribute, "block_shape, strides, dilations and pads must fit image_shape");
  Dim count = 1;
  for (size_t i = 0; i < n; ++i) {
    const Dim room = image[i] + pads[i] + pads[n + i] - (block[i] - 1) * dilation[i] - 1;
    TRY(require_at_least(view, room, 0, "the padded image is smaller than its block"));
    count = count * (floor_div(room, stride[i]) + 1);
  }
  return count;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  TRY(require_rank(view, 0, 3));
  Type out(dtype_of(view, 0));
  const auto image = known_elements(view, 1), block = known_elements(view, 2);
  if (view.type(0).has_rank() && image && block) {
    const Dim taps = product(*block), rows = view.type(0).dim(1);
    if (taps.upper() < 1) return refuse(view, Code::bad_attribute, "block_shape has no elements").found(taps.text());
    const Dim channels = floor_div(rows, max(taps, 1));
    TRY(require_equal(view, channels * taps, rows, "rows and a multiple of the block's elements"));
    TRY(require_equal(view, view.type(0).dim(2), TRY(columns_of(view, *image, *block)), "columns and places of the block in the image"));
    out.shape = DimList{view.type(0).dim(0), channels};
    out.shape->insert(out.shape->end(), image->begin(), image->end());
  } else if (const auto n = known_length(view, 1)) {
    out.shape.emplace();
    for (int64_t k = 0; k < *n + 2; ++k) out.shape->push_back(view.symbols->fresh());
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The loop form, as a gather: each position sums the columns of which an element of the block is there.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const auto block = known_ints(view, 2);
  if (!block) return refuse(view, Code::not_supported, "not supported yet: a loop form for a block that is known at run time only");
  const size_t n = block->size();
  const ir::Attributes& a = *view.attributes;
  const Ints stride = a.ints("strides", Ints(n, 1)), dilation = a.ints("dilations", Ints(n, 1)), pads = a.ints("pads", Ints(2 * n, 0));
  const DimList& shape = *view.outputs[0].shape;
  if (stride.size() != n || dilation.size() != n || pads.size() != 2 * n || shape.size() != n + 2)
    return refuse(view, Code::bad_attribute, "block_shape, strides, dilations and pads must fit image_shape");
  Loop loop;
  loop.axes = parallel_axes(shape);
  for (int64_t k : *block) loop.axes.push_back({Axis::Kind::reduced, k});
  Expr tap = Expr::axis(1), column, within;
  for (size_t i = 0; i < n; ++i) {
    const Expr k = Expr::axis(static_cast<int>(n + 2 + i)), step = index_constant(stride[i]);
    const Dim columns = floor_div(shape[2 + i] + (pads[i] + pads[n + i] - dilation[i] * ((*block)[i] - 1) - 1), stride[i]) + 1;
    const Expr p = Expr::axis(static_cast<int>(2 + i)) + index_constant(pads[i]) - k * index_constant(dilation[i]);
    const Expr from = stride[i] == 1 ? p : p / step;
    Expr inside = logical_and(index_constant(0) <= p, from < size_expr(columns));
    if (stride[i] != 1) inside = logical_and(inside, equal(binary(ExprOp::mod, p, step), index_constant(0)));
    within = within ? logical_and(within, inside) : inside;
    tap = tap * index_constant((*block)[i]) + k;
    column = column ? column * size_expr(columns) + from : from;
  }
  Access access = operand_access(view, 0, {Expr::axis(0), tap, column});
  access.within = within;
  access.fill = is_float(access.dtype) ? Expr::constant(access.dtype, 0) : Expr::integer(access.dtype, 0);
  const Expr value = to_compute_dtype(load(loop, std::move(access)));
  return contraction_form(std::move(loop), value, view.outputs[0].dtype, shape);
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const Ints image = ints_of(call, 1), block = ints_of(call, 2);
  const size_t n = image.size();
  const ir::Attributes& a = *call.view.attributes;
  const Ints stride = a.ints("strides", Ints(n, 1)), dilation = a.ints("dilations", Ints(n, 1)), pads = a.ints("pads", Ints(2 * n, 0));
  if (block.size() != n || stride.size() != n || dilation.size() != n || pads.size() != 2 * n) {
    return refuse(call.view, Code::bad_attribute, "block_shape, strides, dilations and pads must fit image_shape");
  }
  constexpr int64_t kMost = int64_t{1} << 24;  // so that nothing below overflows
  for (const Ints* list : {&image, &block, &stride, &dilation, &pads})
    for (int64_t v : *list)
      if (v < 0 || v > kMost || (v < 1 && (list == &block || list == &stride)))
        return refuse(call.view, Code::bad_input, "image_shape, block_shape, strides, dilations and pads must be sizes")
            .found(std::to_string(v));
  if (!checked_count(block) || !checked_count(image)) return refuse(call.view, Code::size_overflow, "the image or the block is too large");
  Sizes blocks;
  for (size_t i = 0; i < n; ++i) blocks.push_back((image[i] + pads[i] + pads[n + i] - dilation[i] * (block[i] - 1) - 1) / stride[i] + 1);
  for (int64_t n_blocks : blocks)
    if (n_blocks < 1) return refuse(call.view, Code::shape_mismatch, "the block is larger than the padded image");
  const int64_t taps = count_of(block), columns = count_of(blocks), channels = t.shape()[1] / taps;
  if (t.shape()[2] != columns || t.shape()[1] % taps != 0) {
    return refuse(call.view, Code::shape_mismatch, "the operand does not fit image_shape and block_shape")
        .expected(std::to_string(columns) + " columns")
        .found(type_text(t.dtype(), t.shape()));
  }
  Sizes shape{t.shape()[0], channels};
  shape.insert(shape.end(), image.begin(), image.end());
  Tensor& y = *TRY(call.make(0, shape));
  const std::vector<double> x = numbers_of(t);
  std::vector<double> sum(y.count());
  const int64_t plane = count_of(image);
  const Sizes strides = strides_of(image);
  for (int64_t i = 0; i < t.count(); ++i) {
    const Sizes column = index_of(i % columns, blocks), tap = index_of(i / columns % taps, block);
    int64_t offset = 0;
    bool inside = true;
    for (size_t k = 0; k < n; ++k) {
      const int64_t p = column[k] * stride[k] - pads[k] + tap[k] * dilation[k];
      inside = inside && p >= 0 && p < image[k];
      offset += p * strides[k];
    }
    if (inside) sum[i / (columns * taps) * plane + offset] += x[i];
  }
  store_numbers(y, sum);
  return {};
}

}  // namespace

OP(col2im) {
    .name = "Col2Im",
    .since_version = 18,
    .inputs = {{"input", "image_shape", "block_shape"}},
    .attributes = {{"dilations: ints", "pads: ints", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 18,
    .samples = {{"f32[1,5,5], i64[2] = [5,5], i64[2] = [1,5]", "f32[2,18,4], i64[2] = [4,4], i64[2] = [3,3]",
                 "f32[1,4,9], i64[2] = [4,4], i64[2] = [2,2]; pads=[1,1,1,1], strides=[2,2]",
                 "f32[1,10,12], i64[3] = [3,4,5], i64[3] = [1,1,5]"}},
};

}  // namespace tenon::ops::op_col2im
