// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/windows.h"

#include "ops/infer/require.h"

namespace tenon::ops {

namespace {

Result<Ints> window_ints(const NodeView& view, std::string_view name, size_t count, int64_t otherwise, int64_t least) {
  Ints values = view.attributes->ints(name, Ints(count, otherwise));
  if (values.size() != count) {
    return refuse(view, Code::bad_attribute, std::string(name) + " has a wrong length")
        .expected(std::to_string(count) + " values")
        .found(std::to_string(values.size()));
  }
  for (int64_t v : values) {
    if (v < least || v > (int64_t{1} << 40)) {
      return refuse(view, Code::bad_attribute, std::string(name) + " has a value out of range").found(std::to_string(v));
    }
  }
  return values;
}

void same_padding(Windows& w, const DimList& sizes, bool upper) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim kernel_extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const Dim outputs = ceil_div(sizes[i], w.strides[i]);
    const Dim total = max((outputs - 1) * w.strides[i] + kernel_extent - sizes[i], 0);
    const Dim small = floor_div(total, 2);
    w.pads_begin.push_back(upper ? small : total - small);
    w.pads_end.push_back(upper ? total - small : small);
  }
}

}  // namespace

Result<Windows> windows_of(const NodeView& view, const DimList& sizes, std::optional<Ints> kernel) {
  const size_t n = sizes.size();
  Windows w;
  if (view.attributes->has("kernel_shape") || !kernel) w.kernel = TRY(window_ints(view, "kernel_shape", n, 0, 1));
  else w.kernel = *kernel;
  if (w.kernel.size() != n || (kernel && *kernel != w.kernel)) {
    return refuse(view, Code::bad_attribute, "kernel_shape does not fit the weights or the data");
  }
  w.strides = TRY(window_ints(view, "strides", n, 1, 1));
  w.dilations = TRY(window_ints(view, "dilations", n, 1, 1));
  w.ceil_mode = view.attributes->integer("ceil_mode", 0) != 0;
  const std::string mode = view.attributes->text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    same_padding(w, sizes, mode == "SAME_UPPER");
    return w;
  }
  if (mode != "NOTSET" && mode != "VALID") {
    return refuse(view, Code::bad_attribute, "auto_pad has an unknown value")
        .expected("NOTSET, VALID, SAME_UPPER or SAME_LOWER")
        .found(mode);
  }
  const Ints pads = TRY(window_ints(view, "pads", 2 * n, 0, -(int64_t{1} << 40)));
  for (size_t i = 0; i < n; ++i) {
    w.pads_begin.push_back(mode == "VALID" ? 0 : pads[i]);
    w.pads_end.push_back(mode == "VALID" ? 0 : pads[n + i]);
  }
  return w;
}

Result<DimList> window_outputs(const NodeView& view, const Windows& windows, const DimList& sizes) {
  DimList out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Dim stride = windows.strides[i];
    const Dim padded = sizes[i] + windows.pads_begin[i] + windows.pads_end[i],
              kernel_extent = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    // With ceil_mode the last window may exceed the end by less than its stride, even if it is the only one.
    const Dim beyond = windows.ceil_mode ? stride - 1 : Dim(0);
    TRY(require_at_least(view, padded, kernel_extent - beyond, "the padded input is smaller than its window"));
    const Dim room = padded - kernel_extent;
    Dim count = (windows.ceil_mode ? ceil_div(room, stride) : floor_div(room, stride)) + 1;
    // A window that would start in the padding after the data is left out (ONNX pooling, ceil_mode).
    if (windows.ceil_mode) count = select(less_than((count - 1) * stride, sizes[i] + windows.pads_begin[i]), count, count - 1);
    out.push_back(count);
  }
  return out;
}

}  // namespace tenon::ops
