// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"
#include "ops/spatial/convolution.h"
#include "ops/spatial/interpolation.h"

namespace tenon::ops::op_grid_sample {

namespace {

enum class Padding { zeros, border, reflection };

/// A coordinate that is NaN or beyond the range of integers becomes the first corner, as in ONNX Runtime; ONNX does not define it.
constexpr double kFarthest = 0x1p62;

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 1, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 3, -1));
  const std::string mode = view.attributes->text("mode", "linear"), padding = view.attributes->text("padding_mode", "zeros");
  if (mode != "linear" && mode != "nearest" && mode != "cubic")
    return refuse(view, Code::bad_attribute, "mode has an unknown value").expected("linear, nearest or cubic").found(mode);
  if (mode != "nearest") TRY(require_dtype(view, 0, is_arithmetic_float, "a float type, between whose elements the mode computes"));
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return refuse(view, Code::bad_attribute, "padding_mode has an unknown value").found(padding);
  Type out(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    const Type &x = view.type(0), &grid = view.type(1);
    if (grid.rank() != x.rank())
      return refuse(view, Code::rank_mismatch, "X and grid differ in rank").expected(x.text()).found(grid.text());
    TRY(require_equal(view, grid.dim(0), x.dim(0), "batch sizes of X and grid"));
    TRY(require_equal(view, grid.dim(-1), x.rank() - 2, "last dimension of grid and spatial axes of X"));
    out.shape = DimList{x.dim(0), x.dim(1)};
    for (int k = 1; k + 1 < grid.rank(); ++k) out.shape->push_back(grid.dim(k));
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// Folds a coordinate back into [low, high] at both ends.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (x >= low && x <= high) return x;
  const double distance = x < low ? low - x : x - high;
  const double periods = std::floor(distance / range), rest = distance - periods * range;
  const bool even = std::fmod(periods, 2) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

/// Cubic convolution of Keys (1981) with a = -0.75.
std::array<double, 4> cubic_weights(double x) {
  constexpr double a = -0.75;
  auto near = [](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  auto far = [](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {far(x + 1), near(x), near(1 - x), far(2 - x)};
}

struct Sampler {
  Sizes sizes, strides;
  Padding padding;
  bool corners;
  int taps;  ///< per axis: 1 nearest, 2 linear, 4 cubic
  std::vector<std::array<double, 4>> weights;
  std::vector<int64_t> first;

  double low() const { return corners ? 0 : -0.5; }
  double high(size_t axis) const { return static_cast<double>(sizes[axis]) - (corners ? 1 : 0.5); }

  void place(size_t axis, double normal) {
    const double n = static_cast<double>(sizes[axis]);
    double x = corners ? (normal + 1) / 2 * (n - 1) : ((normal + 1) * n - 1) / 2;
    if (!(std::abs(x) < kFarthest)) x = low();
    if (taps == 1) x = std::nearbyint(x);
    if (x < low() || x > high(axis)) {
      if (padding == Padding::border) x = std::clamp(x, 0.0, n - 1);
      if (padding == Padding::reflection) x = reflected(x, low(), high(axis));
    }
    if (!(std::abs(x) < 1e15)) x = -1e15;
    const double base = taps == 1 ? std::trunc(x) : std::floor(x);
    first[axis] = static_cast<int64_t>(base) - (taps == 4 ? 1 : 0);
    weights[axis] = taps == 1   ? std::array<double, 4>{1, 0, 0, 0}
                    : taps == 2 ? std::array<double, 4>{1 - (x - base), x - base, 0, 0}
                                : cubic_weights(x - base);
  }

  double value(const double* plane, size_t axis = 0, int64_t offset = 0) const {
    if (axis == sizes.size()) return plane[offset];
    double sum = 0;
    for (int k = 0; k < taps; ++k) {
      int64_t i = first[axis] + k;
      if (padding == Padding::border) i = std::clamp<int64_t>(i, 0, sizes[axis] - 1);
      if (padding == Padding::reflection) i = static_cast<int64_t>(reflected(static_cast<double>(i), low(), high(axis)));
      if (i < 0 || i >= sizes[axis]) continue;
      sum += weights[axis][k] * value(plane, axis + 1, offset + i * strides[axis]);
    }
    return sum;
  }
};

std::vector<double> numbers_from_one(int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 1);
  return out;
}

Result<void> evaluate(Call& call) {
  const Tensor &t = *call.in[0], &grid = *call.in[1];
  const std::string mode = call.view.attributes->text("mode", "linear"), padding = call.view.attributes->text("padding_mode", "zeros");
  const Sizes sizes(t.shape().begin() + 2, t.shape().end());
  Sampler s{sizes,
            strides_of(sizes),
            padding == "zeros"    ? Padding::zeros
            : padding == "border" ? Padding::border
                                  : Padding::reflection,
            call.view.attributes->integer("align_corners", 0) != 0,
            mode == "nearest"  ? 1
            : mode == "linear" ? 2
                               : 4,
            {},
            {}};
  s.weights.resize(sizes.size());
  s.first.resize(sizes.size());
  Sizes shape{t.shape()[0], t.shape()[1]};
  shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
  Tensor& y = *TRY(call.make(0, shape));
  const bool picks = s.taps == 1;  // elements as they are, found by their number; 0 is none
  const std::vector<double> x = picks ? numbers_from_one(t.count()) : numbers_of(t), at = numbers_of(grid);
  const int64_t rank = static_cast<int64_t>(sizes.size()), plane = count_of(sizes),
                points = count_of(Sizes(shape.begin() + 2, shape.end()));
  if (plane == 0) return {};
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t p = 0; p < points; ++p) {
      for (int64_t k = 0; k < rank; ++k) s.place(k, at[(n * points + p) * rank + rank - 1 - k]);
      for (int64_t c = 0; c < shape[1]; ++c) {
        const int64_t to = (n * shape[1] + c) * points + p;
        const double value = s.value(x.data() + (n * shape[1] + c) * plane);
        if (!picks) y.set_number(to, value);
        else if (value > 0) copy_element(y, to, t, static_cast<int64_t>(value) - 1);
      }
    }
  }
  return {};
}

/// The same as expressions of a loop form, for one spatial axis of size `n`.
struct AxisForm {
  Expr n, low, high;
  Dim size;
  Padding padding;
  bool corners;

  AxisForm(Dim length, Padding how, bool at_corners, DType dtype) : size(length), padding(how), corners(at_corners) {
    n = cast(size_expr(length), dtype);
    low = Expr::constant(dtype, corners ? 0 : -0.5);
    high = n - (corners ? 1 : 0.5);
  }

  Expr folded(Expr x) const {
    const Expr range = high - low, below = x < low, distance = select(below, low - x, x - high);
    const Expr periods = unary(ExprOp::floor, distance / range), rest = distance - periods * range;
    const Expr even = equal(binary(ExprOp::rem, periods, 2), 0), up = low + rest, down = high - rest;
    return select(logical_and(low <= x, x <= high), x, select(below, select(even, up, down), select(even, down, up)));
  }

  Tap tap(Expr at, Expr weight) const {
    if (padding == Padding::border) return {max(index_constant(0), min(at, size_expr(size) - index_constant(1))), weight, {}};
    if (padding == Padding::reflection) at = cast(folded(cast(at, n.dtype())), DType::i64);
    return {at, weight, inside(at, size)};
  }

  std::vector<Tap> taps(Expr normal, int count) const {
    Expr x = corners ? (normal + 1) / 2 * (n - 1) : ((normal + 1) * n - 1) / 2;
    x = select(abs(x) < kFarthest, x, low);
    if (count == 1) x = unary(ExprOp::round_even, x);
    if (padding == Padding::border) x = select(logical_or(x < low, high < x), max(min(x, n - 1), 0), x);
    if (padding == Padding::reflection) x = folded(x);
    x = select(abs(x) < 1e15, x, -1e15);
    const Expr base = unary(ExprOp::floor, x), r = x - base, first = cast(base, DType::i64);
    auto next = [&](int k) { return first + index_constant(k); };
    if (count == 1) return {tap(first, {})};
    if (count == 2) return {tap(first, 1 - r), tap(next(1), r)};
    constexpr double a = -0.75;
    auto near = [](Expr t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
    auto far = [](Expr t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
    return {tap(next(-1), far(r + 1)), tap(first, near(r)), tap(next(1), near(1 - r)), tap(next(2), far(2 - r))};
  }
};

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type &x = view.type(0), &y = view.outputs[0];
  const std::string mode = view.attributes->text("mode", "linear"), padding = view.attributes->text("padding_mode", "zeros");
  const int rank = x.rank() - 2, count = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  if (std::pow(count, rank) > 16) return refuse(view, Code::not_supported, "not supported yet: a loop form with more than 16 neighbours");
  const Padding how = padding == "zeros" ? Padding::zeros : padding == "border" ? Padding::border : Padding::reflection;
  Loop loop;
  loop.axes = parallel_axes(*y.shape);
  std::vector<std::vector<Tap>> axes;
  for (int k = 0; k < rank; ++k) {
    std::vector<Expr> at{Expr::axis(0)};
    for (int i = 0; i < rank; ++i) at.push_back(Expr::axis(2 + i));
    at.push_back(index_constant(rank - 1 - k));
    const Expr normal = to_compute_dtype(load(loop, operand_access(view, 1, std::move(at))));
    axes.push_back(AxisForm(x.dim(2 + k), how, view.attributes->integer("align_corners", 0) != 0, normal.dtype()).taps(normal, count));
  }
  const DType wide = count == 1 ? x.dtype : is_float(x.dtype) ? compute_dtype(x.dtype) : DType::f64;
  loop.outputs.push_back(full_output(y.dtype, *y.shape, interpolated(loop, operand_access(view, 0, axis_indices(2)), axes, wide)));
  return single_loop_form(std::move(loop));
}

/// Opset 16 calls the modes bilinear and bicubic.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 20) return {};
  const std::string mode = graph.node(node).attributes.text("mode", "bilinear");
  if (mode.starts_with("bi")) graph.set_attribute(node, "mode", mode == "bicubic" ? std::string("cubic") : std::string("linear"));
  return {};
}

Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const std::string mode = graph.node(node).attributes.text("mode", "linear");
  if (opset < 20 && mode != "nearest")
    graph.set_attribute(node, "mode", mode == "cubic" ? std::string("bicubic") : std::string("bilinear"));
  return {};
}

}  // namespace

OP(grid_sample) {
    .name = "GridSample",
    .since_version = 22,
    .inputs = {{"X", "grid"}},
    .outputs = {{"Y"}},
    .attributes = {{"align_corners: int = 0", "mode: string = linear", "padding_mode: string = zeros"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView& view) { return view.type(0).has_rank() && view.rank(0) == 4 ? 16 : 20; },
    .first_opset = 16,
    .downgrade = downgrade,
    .samples = {{"f32[1,2,4,5], f32[1,3,6,2]", "f32[1,1,4,4], f32[1,5,5,2]; mode=nearest, padding_mode=border",
                 "f32[1,1,4,4], f32[1,5,5,2]; mode=cubic, padding_mode=reflection",
                 "f64[2,1,3,4,5], f64[2,2,2,2,3]; align_corners=1, padding_mode=reflection"}},
};

}  // namespace tenon::ops::op_grid_sample
