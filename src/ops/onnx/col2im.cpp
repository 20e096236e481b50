// SPDX-License-Identifier: Apache-2.0
#include "ops/reference_helpers.h"

namespace tenon::ops {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  TRY(require_rank(view, 0, 3));
  Type out(dtype_of(view, 0));
  const auto image = elements(view, 1), block = elements(view, 2);
  if (view.type(0).has_rank() && image && block) {
    const Dim taps = product(*block);
    out.shape = DimList{view.type(0).dim(0), floor_div(view.type(0).dim(1), taps)};
    out.shape->insert(out.shape->end(), image->begin(), image->end());
  } else if (const auto n = known_length(view, 1)) {
    out.shape.emplace();
    for (int64_t k = 0; k < *n + 2; ++k) out.shape->push_back(view.symbols->fresh());
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const Ints image = ints_of(call, 1), block = ints_of(call, 2);
  const size_t n = image.size();
  const ir::Attributes& a = *call.view.attributes;
  const Ints stride = a.ints("strides", Ints(n, 1)), dilation = a.ints("dilations", Ints(n, 1)), pads = a.ints("pads", Ints(2 * n, 0));
  if (block.size() != n || stride.size() != n || dilation.size() != n || pads.size() != 2 * n || count_of(block) < 1) {
    return refuse(call.view, Code::bad_attribute, "block_shape, strides, dilations and pads must fit image_shape");
  }
  Sizes blocks;
  for (size_t i = 0; i < n; ++i) blocks.push_back((image[i] + pads[i] + pads[n + i] - dilation[i] * (block[i] - 1) - 1) / stride[i] + 1);
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
    .since = 18,
    .inputs = {"input", "image_shape", "block_shape"},
    .attributes = {"dilations: ints", "pads: ints", "strides: ints"},
    .infer = infer,
    .reference = evaluate,
    .first = 18,
    .samples = {"f32[1,5,5], i64[2] = [5,5], i64[2] = [1,5]", "f32[2,18,4], i64[2] = [4,4], i64[2] = [3,3]",
                "f32[1,4,9], i64[2] = [4,4], i64[2] = [2,2]; pads=[1,1,1,1], strides=[2,2]",
                "f32[1,10,12], i64[3] = [3,4,5], i64[3] = [1,1,5]"},
};

}  // namespace tenon::ops
