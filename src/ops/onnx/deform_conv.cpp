// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/spatial_helpers.h"

namespace tenon::ops {

namespace {

enum Input : size_t { kX, kW, kOffset, kBias, kMask };

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kX, is_real_arithmetic, "a float type"));
  for (size_t k : {kX, kW, kOffset}) TRY(require_rank(view, k, 4));
  return infer_conv(view, kX, kW, kBias, dtype_of(view, kX));
}

/// Bilinear between the four neighbours; what lies outside of the picture is 0.
double sample(const double* plane, double y, double x, int64_t height, int64_t width) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int dy : {0, 1}) {
    for (int dx : {0, 1}) {
      const double row = top + dy, column = left + dx;
      if (!(row >= 0 && row < static_cast<double>(height) && column >= 0 && column < static_cast<double>(width))) continue;
      sum += (1 - std::abs(y - row)) * (1 - std::abs(x - column)) * plane[static_cast<int64_t>(row) * width + static_cast<int64_t>(column)];
    }
  }
  return sum;
}

Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[kX], &w = *call.in[kW];
  const Sizes data(x.shape().begin() + 2, x.shape().end()), kernel(w.shape().begin() + 2, w.shape().end());
  const WindowSizes s = TRY(window_sizes(call.view, data, kernel, false));
  const int64_t group = call.view.attributes->integer("group", 1), offset_group = call.view.attributes->integer("offset_group", 1);
  const int64_t batch = x.shape()[0], channels = x.shape()[1], outputs = w.shape()[0], per_group = w.shape()[1], taps = count_of(kernel),
                plane = count_of(s.out);
  if (group < 1 || offset_group < 1 || per_group * group != channels || channels % offset_group != 0 || outputs % group != 0 ||
      call.in[kOffset]->count() != batch * offset_group * taps * 2 * plane) {
    return refuse(call.view, Code::shape_mismatch, "X, W and offset do not fit");
  }
  const std::vector<double> from = numbers_of(x), weights = numbers_of(w), offsets = numbers_of(*call.in[kOffset]);
  const std::vector<double> masks = call.has(kMask) ? numbers_of(*call.in[kMask]) : std::vector<double>();
  Tensor& y = *TRY(call.make(0, {batch, outputs, s.out[0], s.out[1]}));
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t n = i / (outputs * plane), m = i / plane % outputs, p = i % plane;
    double sum = call.has(kBias) ? call.in[kBias]->number(m) : 0;
    for (int64_t c = 0; c < per_group; ++c) {
      const int64_t channel = m / (outputs / group) * per_group + c, og = n * offset_group + channel / (channels / offset_group);
      for (int64_t tap = 0; tap < taps; ++tap) {
        const double dy = offsets[((og * taps + tap) * 2) * plane + p], dx = offsets[((og * taps + tap) * 2 + 1) * plane + p];
        const double row = static_cast<double>(p / s.out[1] * s.stride[0] - s.begin[0] + tap / kernel[1] * s.dilation[0]) + dy;
        const double column = static_cast<double>(p % s.out[1] * s.stride[1] - s.begin[1] + tap % kernel[1] * s.dilation[1]) + dx;
        const double v = sample(from.data() + (n * channels + channel) * count_of(data), row, column, data[0], data[1]);
        sum += v * weights[(m * per_group + c) * taps + tap] * (masks.empty() ? 1 : masks[(og * taps + tap) * plane + p]);
      }
    }
    y.set_number(i, sum);
  }
  return {};
}

}  // namespace

OP(deform_conv) {
    .name = "DeformConv",
    .since = 22,
    .inputs = {"X", "W", "offset", "B?", "mask?"},
    .outputs = {"Y"},
    .attributes = {"dilations: ints", "group: int = 1", "kernel_shape: ints", "offset_group: int = 1", "pads: ints", "strides: ints"},
    .infer = infer,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 19; },
    .first = 19,
    .samples = {"f32[1,1,3,3], f32[1,1,2,2], f32[1,8,2,2], f32[1]",
                "f32[1,2,5,5], f32[4,1,3,3], f32[1,36,5,5], _, f32[1,18,5,5]; group=2, offset_group=2, pads=[1,1,1,1]"},
};

}  // namespace tenon::ops
