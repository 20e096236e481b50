// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/contract/product.h"
#include "ops/spatial/windows.h"

namespace tenon::ops {

// --- types -----------------------------------------------------------------------------------------------------------
/// Sizes of a tensor [N, C, spatial...] after its first two axes.
DimList spatial_of(const Type& type);
/// Weights' spatial sizes where all are numbers; attribute kernel_shape otherwise. Errors: not_supported where neither is known.
Result<Ints> kernel_of(const NodeView& view, size_t weights);
/// Operands x [N, C, s...], w [M, C / group, k...], optional bias [M]. Stores result 0 [N, M, outputs...] with `dtype`.
Result<void> infer_conv(NodeView& view, size_t x, size_t w, size_t bias, DType dtype);
/// Pooling over windows: result 0 has the dtype of operand 0.
Result<void> infer_pool(NodeView& view);

inline constexpr StringList kConvAttributes = {
    {"auto_pad: string = NOTSET", "dilations: ints", "group: int = 1", "kernel_shape: ints", "pads: ints", "strides: ints"}};

// --- forms -----------------------------------------------------------------------------------------------------------
/// The spatial indices that a window position reads, and the predicate that they lie in the data (null: always).
struct WindowIndex {
  std::vector<Expr> index;
  Expr within;
};
/// first_out, first_kernel: numbers of the loop's first output and first kernel axis.
WindowIndex window_index(const Windows& windows, const DimList& sizes, int first_out, int first_kernel);
/// How many positions of the window at the output axes lie in the data (with `padded`: in the data and its padding), as i64.
Expr window_count(const Windows& windows, const DimList& sizes, int first_out, bool padded);
/// `count` kernel positions from `first` on.
struct KernelRange {
  Dim first, count;
};
/// The kernel positions along spatial axis i that lie in the data for at least one output. All of a short kernel over symbolic sizes, which
/// code generation unrolls.
KernelRange used_kernel_range(const Windows& windows, size_t i, Dim size, Dim outputs);
/// A loop over the elements of result 0 and the positions of their windows, with the element of operand 0 there (widened), or `fill`
/// outside of the data. Kernel axes run over used_kernel_range() only.
struct WindowLoop {
  Loop loop;
  WindowIndex at;
  Expr x;
};
WindowLoop window_loop(const NodeView& view, const Windows& windows, Expr fill);

/// The loop of a convolution: product(x, w) summed over channels and kernel. Positions outside read as 0.
struct ConvLoop {
  Loop loop;
  std::vector<Expr> index;    ///< where the sum is written
  Expr x, w, output_channel;  ///< loaded elements (not widened); number of the output channel
};
Result<ConvLoop> conv_loop(const NodeView& view, size_t x, size_t w);

// --- references --------------------------------------------------------------------------------------------------------
/// Window geometry in numbers, from attributes and real sizes; shares nothing with `Windows`.
struct WindowSizes {
  Sizes data, kernel, stride, dilation, pads_begin, pads_end, out;
};
Result<WindowSizes> window_sizes(const NodeView& view, const Sizes& data, const Sizes& kernel, bool ceil_mode);
/// Of a convolution of operand `x` with operand `w`: windows, the shape of result 0, channels, and how many weights an output channel
/// has.
struct ConvSizes {
  WindowSizes windows;
  Sizes shape;
  int64_t group = 1, channels = 0, outputs = 0, per_output = 0;
};
Result<ConvSizes> conv_sizes(const Call& call, size_t x, size_t w);
/// Sum over channels and kernel: x [N, C, data...], w [M, C / group, kernel...] to [N, M, out...].
std::vector<double> convolve(const std::vector<double>& x, const std::vector<double>& w, const ConvSizes& s);
/// Calls visit(plane, output position, offsets of the elements in the data plane, number of window positions in the data or padding).
using WindowVisit = std::function<void(int64_t out, std::span<const int64_t> offsets, int64_t padded_count)>;
void each_window(const WindowSizes& s, const WindowVisit& visit);

}  // namespace tenon::ops
