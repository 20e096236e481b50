// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/refuse.h"
#include "ops/reference/indices.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops {

Result<WindowSizes> window_sizes(const NodeView& view, const Sizes& data, const Sizes& kernel, bool ceil_mode) {
  const size_t n = data.size();
  WindowSizes s{data,     kernel, view.attributes->ints("strides", Ints(n, 1)), view.attributes->ints("dilations", Ints(n, 1)), Sizes(n),
                Sizes(n), {}};
  const Ints pads = view.attributes->ints("pads", Ints(2 * n, 0));
  if (kernel.size() != n || s.stride.size() != n || s.dilation.size() != n || pads.size() != 2 * n) {
    return refuse(view, Code::bad_attribute, "kernel_shape, strides, dilations and pads must fit the spatial axes");
  }
  const std::string mode = view.attributes->text("auto_pad", "NOTSET");
  for (size_t i = 0; i < n; ++i) {
    if (s.stride[i] < 1 || s.dilation[i] < 1 || kernel[i] < 1)
      return refuse(view, Code::bad_attribute, "sizes of a window must be positive");
    const int64_t kernel_extent = (kernel[i] - 1) * s.dilation[i] + 1;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t out = (data[i] + s.stride[i] - 1) / s.stride[i];
      const int64_t total = std::max<int64_t>(0, (out - 1) * s.stride[i] + kernel_extent - data[i]);
      s.pads_begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      s.pads_end[i] = total - s.pads_begin[i];
    } else if (mode == "NOTSET") {
      s.pads_begin[i] = pads[i];
      s.pads_end[i] = pads[n + i];
    }
    const int64_t room = data[i] + s.pads_begin[i] + s.pads_end[i] - kernel_extent;
    int64_t out = floor_div(room, s.stride[i]) + 1;
    if (ceil_mode && room % s.stride[i] != 0 && out * s.stride[i] < data[i] + s.pads_begin[i]) ++out;
    s.out.push_back(std::max<int64_t>(0, out));
  }
  return s;
}

Result<ConvSizes> conv_sizes(const Call& call, size_t x, size_t w) {
  const Sizes &data = call.in[x]->shape(), &weights = call.in[w]->shape();
  ConvSizes out;
  out.windows = TRY(window_sizes(call.view, Sizes(data.begin() + 2, data.end()), Sizes(weights.begin() + 2, weights.end()), false));
  out.group = call.view.attributes->integer("group", 1);
  out.channels = data[1];
  out.outputs = weights[0];
  out.per_output = out.outputs ? call.in[w]->count() / out.outputs : 0;
  out.shape = {data[0], out.outputs};
  out.shape.insert(out.shape.end(), out.windows.out.begin(), out.windows.out.end());
  return out;
}

namespace {

/// The range of outputs along one axis for which one position of the window lies in the data.
struct Stretch {
  int64_t base = 0;            ///< element of the data plane that output 0 of the line reads, `step` apart from the next
  int64_t first = 0, end = 0;  ///< outputs of the line; none where end <= first
  int64_t step = 1;
};

/// out: position of the line's output 0. tap: position in the window.
Stretch stretch_of(const WindowSizes& s, const Sizes& out, const Sizes& tap) {
  const size_t n = s.data.size();
  const Sizes strides = strides_of(s.data);
  Stretch r{0, 0, n ? s.out[n - 1] : 1, n ? s.stride[n - 1] : 1};
  for (size_t i = 0; i < n; ++i) {
    const int64_t p = out[i] * s.stride[i] + tap[i] * s.dilation[i] - s.pads_begin[i];
    r.base += p * strides[i];
    if (i + 1 < n) {
      if (p < 0 || p >= s.data[i]) return {};
    } else {
      r.first = p >= 0 ? 0 : (-p + r.step - 1) / r.step;
      r.end = std::min(r.end, p >= s.data[i] ? 0 : (s.data[i] - 1 - p) / r.step + 1);
    }
  }
  return r;
}

}  // namespace

std::vector<double> convolve(const std::vector<double>& x, const std::vector<double>& w, const ConvSizes& s) {
  const int64_t plane = count_of(s.windows.data), out_plane = count_of(s.windows.out), taps = count_of(s.windows.kernel);
  const int64_t per_group = s.channels / s.group, out_per_group = s.outputs / s.group, batch = s.shape[0];
  std::vector<double> y(batch * s.outputs * out_plane);
  if (y.empty() || taps == 0) return y;
  const int64_t width = s.windows.out.empty() ? 1 : s.windows.out.back();
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t line = 0; line < out_plane; line += width) {
      const Stretch r = stretch_of(s.windows, index_of(line, s.windows.out), index_of(tap, s.windows.kernel));
      for (int64_t row = 0; row < batch * s.outputs && r.first < r.end; ++row) {
        const int64_t b = row / s.outputs, m = row % s.outputs;
        double* __restrict to = y.data() + row * out_plane + line;
        for (int64_t c = 0; c < per_group; ++c) {
          const double factor = w[(m * per_group + c) * taps + tap];
          const double* __restrict from = x.data() + (b * s.channels + m / out_per_group * per_group + c) * plane + r.base;
          for (int64_t j = r.first; j < r.end; ++j) to[j] += factor * from[j * r.step];
        }
      }
    }
  }
  return y;
}

void each_window(const WindowSizes& s, const WindowVisit& visit) {
  const int64_t outs = count_of(s.out), taps = count_of(s.kernel);
  const Sizes strides = strides_of(s.data);
  std::vector<int64_t> offsets;
  for (int64_t out = 0; out < outs; ++out) {
    const Sizes o = index_of(out, s.out);
    offsets.clear();
    int64_t padded = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const Sizes k = index_of(tap, s.kernel);
      int64_t offset = 0;
      bool inside = true, in_padding = true;
      for (size_t i = 0; i < s.data.size(); ++i) {
        const int64_t p = o[i] * s.stride[i] + k[i] * s.dilation[i] - s.pads_begin[i];
        inside = inside && p >= 0 && p < s.data[i];
        in_padding = in_padding && p >= -s.pads_begin[i] && p < s.data[i] + s.pads_end[i];
        offset += p * strides[i];
      }
      if (inside) offsets.push_back(offset);
      padded += in_padding;
    }
    visit(out, offsets, padded);
  }
}

}  // namespace tenon::ops
