// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/resized_axes.h"

#include <algorithm>
#include <numeric>

#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops {

std::pair<int64_t, int64_t> fraction_of(double scale) {
  int exponent = 0;
  double mantissa = std::frexp(scale, &exponent);  // a float has 24 bits
  int64_t above = static_cast<int64_t>(std::ldexp(mantissa, 24)), below = 1;
  exponent -= 24;
  for (; exponent > 0; --exponent) above *= 2;
  for (; exponent < 0 && below < (int64_t{1} << 40); ++exponent) {
    if (above % 2 == 0) above /= 2;
    else below *= 2;
  }
  const int64_t common = std::gcd(above, below);
  return {above / common, below / common};
}

namespace {

bool given(const NodeView& view, int slot) {
  if (slot < 0 || !view.has(static_cast<size_t>(slot))) return false;
  return known_length(view, static_cast<size_t>(slot)) != 0;
}

Result<std::vector<int>> axes_of(const NodeView& view) {
  if (view.attributes->has("axes")) return normalise_axes(view, view.attributes->ints("axes"), view.rank(0), false);
  std::vector<int> all;
  for (int a = 0; a < view.rank(0); ++a) all.push_back(a);
  return all;
}

Result<void> use_scales(const NodeView& view, size_t slot, std::vector<ResizedAxis>& axes) {
  std::vector<double> values;
  if (const Tensor* t = view.inputs[slot].constant) values = numbers_of(*t);
  else if (const auto data = known_elements(view, slot))
    if (auto n = static_sizes(*data)) values.assign(n->begin(), n->end());
  if (values.empty()) {
    for (ResizedAxis& a : axes) a.known = false;
    return {};
  }
  if (values.size() != axes.size())
    return refuse(view, Code::shape_mismatch, "scales has a wrong length")
        .expected(std::to_string(axes.size()))
        .found(std::to_string(values.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(values[i] > 0) || values[i] > 1e6) return refuse(view, Code::bad_input, "a scale is not positive, or too large");
    const auto [above, below] = fraction_of(values[i]);
    axes[i].above = above;
    axes[i].below = below;
    axes[i].out = floor_div(axes[i].in * above, below);
  }
  return {};
}

/// With a policy, the axes share the smallest (largest) of their scales. Which one that is needs all sizes: without them no axis is known.
Result<void> share_scale(const NodeView& view, const std::string& policy, std::vector<ResizedAxis>& axes) {
  if (!std::ranges::all_of(axes, [](const ResizedAxis& a) { return a.in.is_number() && a.out.is_number(); })) {
    for (ResizedAxis& a : axes) a.known = false;
    return {};
  }
  double scale = 0;
  for (const ResizedAxis& a : axes) {
    if (a.in.value() == 0) return refuse(view, Code::shape_mismatch, "there is nothing to resize").expected("at least 1").found("0");
    const double s = static_cast<double>(a.out.value()) / static_cast<double>(a.in.value());
    scale = scale == 0 ? s : policy == "not_larger" ? std::min(scale, s) : std::max(scale, s);
  }
  ResizedAxis* best = nullptr;
  for (ResizedAxis& a : axes) {
    if (static_cast<double>(a.out.value()) / static_cast<double>(a.in.value()) == scale) best = &a;
  }
  TENON_ASSERT(best != nullptr || axes.empty());
  const Dim above = best ? best->out : 1, below = best ? best->in : 1;
  for (ResizedAxis& a : axes) {
    a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in.value()) + 0.5));
    a.above = above;
    a.below = below;
  }
  return {};
}

Result<void> use_sizes(const NodeView& view, size_t slot, std::vector<ResizedAxis>& axes) {
  const auto sizes = known_elements(view, slot);
  if (!sizes) {
    for (ResizedAxis& a : axes) a.known = false;
    return {};
  }
  if (sizes->size() != axes.size())
    return refuse(view, Code::shape_mismatch, "sizes has a wrong length")
        .expected(std::to_string(axes.size()))
        .found(std::to_string(sizes->size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].out = (*sizes)[i];
    axes[i].above = axes[i].out;
    axes[i].below = axes[i].in;
  }
  const std::string policy = view.attributes->text("keep_aspect_ratio_policy", "stretch");
  return policy == "stretch" ? Result<void>() : share_scale(view, policy, axes);
}

}  // namespace

Result<std::vector<ResizedAxis>> resized_axes(const NodeView& view, int scales, int sizes) {
  std::vector<ResizedAxis> axes;
  for (int a : TRY(axes_of(view))) {
    ResizedAxis r;
    r.axis = a;
    r.in = view.type(0).dim(a);
    axes.push_back(r);
  }
  if (given(view, sizes)) TRY(use_sizes(view, static_cast<size_t>(sizes), axes));
  else if (given(view, scales)) TRY(use_scales(view, static_cast<size_t>(scales), axes));
  else return refuse(view, Code::bad_graph, "neither scales nor sizes are given");
  return axes;
}

Result<void> infer_resized(NodeView& view, int scales, int sizes) {
  if (view.attributes->text("mode", "nearest") != "nearest")
    TRY(require_dtype(view, 0, is_number_or_bool, "a number or bool, between whose elements the mode computes"));
  Type type(dtype_of(view, 0));
  if (ranks_known(view, {0})) {
    type.shape = view.type(0).shape;
    for (const ResizedAxis& a : TRY(resized_axes(view, scales, sizes))) {
      (*type.shape)[static_cast<size_t>(a.axis)] = a.known ? a.out : view.symbols->fresh();
      if (a.known) TRY(require_at_least(view, a.in, min(a.out, 1), "there is nothing to resize"));
    }
  }
  set_output(view, 0, std::move(type));
  return {};
}

namespace {

/// A coordinate in the operand as a fraction of two integer expressions; the denominator is positive.
struct Coordinate {
  Expr above, below;
};

Expr times(Expr a, Dim b) { return b == Dim(1) ? a : a * size_expr(b); }

Result<Coordinate> coordinate_of(const NodeView& view, const ResizedAxis& r) {
  const std::string mode = view.attributes->text("coordinate_transformation_mode", "half_pixel");
  const Expr x = Expr::axis(r.axis), half = x * index_constant(2) + index_constant(1);
  const Coordinate centred = {times(half, r.below) - size_expr(r.above), size_expr(r.above * 2)};
  if (mode == "half_pixel") return centred;
  if (mode == "asymmetric") return Coordinate{times(x, r.below), size_expr(r.above)};
  if (mode == "tf_half_pixel_for_nn") return Coordinate{times(half, r.below), size_expr(r.above * 2)};
  if (mode == "pytorch_half_pixel") {
    return Coordinate{select(index_constant(1) < size_expr(r.out), centred.above, index_constant(0)), centred.below};
  }
  if (mode == "align_corners") {
    const Dim span = r.above * r.in - r.below;  // (scale * in - 1) * below
    return Coordinate{select(index_constant(1) < size_expr(r.out), times(x, (r.in - 1) * r.below), index_constant(0)),
                      size_expr(max(span, 1))};
  }
  if (mode == "half_pixel_symmetric")
    return Coordinate{size_expr((r.in - 1) * r.above - r.out * r.below) + times(half, r.below), size_expr(r.above * 2)};
  return refuse(view, Code::not_supported, "not supported yet: a loop form of coordinate_transformation_mode " + mode);
}

Expr floor_of(Expr above, Expr below) { return (above - binary(ExprOp::mod, above, below)) / below; }
Expr clamped(Expr index, Dim size) { return max(index_constant(0), min(index, size_expr(size - 1))); }

/// Indices that one output reads along an axis, and their weights (null: 1).
struct Taps {
  std::vector<Expr> index, weight;
  /// The condition that the axis keeps its size, where sizes are symbolic. Then tap `own` is the element itself, and the others, of
  /// weight 0, are not read: 0 times infinity is NaN.
  Expr keeps_size = {};
  size_t own = 0;
};

/// One product of the sum: an element, its weight, and the condition under which it is skipped (null: never).
struct Term {
  std::vector<Expr> index;
  Expr weight = {}, left_out = {};
};

Result<Expr> nearest_of(const NodeView& view, const Coordinate& c) {
  const std::string how = view.attributes->text("nearest_mode", "round_prefer_floor");
  const Expr two = index_constant(2), one = index_constant(1);
  if (how == "floor") return floor_of(c.above, c.below);
  if (how == "ceil") return floor_of(c.above + c.below - one, c.below);
  if (how == "round_prefer_ceil") return floor_of(c.above * two + c.below, c.below * two);
  if (how == "round_prefer_floor") return floor_of(c.above * two + c.below - one, c.below * two);
  return refuse(view, Code::bad_attribute, "unknown nearest_mode").found(how);
}

std::vector<Expr> cubic_weights(Expr r, double a) {
  const auto near = [&](Expr d) { return (Expr(a + 2) * d - Expr(a + 3)) * d * d + Expr(1.0); };
  const auto far = [&](Expr d) { return ((Expr(a) * d - Expr(5 * a)) * d + Expr(8 * a)) * d - Expr(4 * a); };
  return {far(r + Expr(1.0)), near(r), near(Expr(1.0) - r), far(Expr(2.0) - r)};
}

Result<Taps> taps_of(const NodeView& view, const ResizedAxis& r, DType compute) {
  if (r.out == r.in && r.above == r.below) return Taps{{Expr::axis(r.axis)}, {Expr()}};
  const Coordinate c = TRY(coordinate_of(view, r));
  const std::string mode = view.attributes->text("mode", "nearest");
  if (mode == "nearest") return Taps{{clamped(TRY(nearest_of(view, c)), r.in)}, {Expr()}};
  const Expr base = floor_of(c.above, c.below);
  const Expr ratio = cast(binary(ExprOp::mod, c.above, c.below), compute) / cast(c.below, compute);
  Taps taps;
  if (!r.above.equals(r.below)) taps.keeps_size = equal(size_expr(r.above), size_expr(r.below));
  if (mode == "linear") {
    taps.index = {clamped(base, r.in), clamped(base + index_constant(1), r.in)};
    taps.weight = {Expr(1.0) - ratio, ratio};
    return taps;
  }
  taps.own = 1;
  for (int k = -1; k <= 2; ++k) taps.index.push_back(clamped(base + index_constant(k), r.in));
  taps.weight = cubic_weights(ratio, view.attributes->number("cubic_coeff_a", -0.75f));
  return taps;
}

/// The term extended by tap k of another axis.
Term with_tap(const Term& term, const Taps& taps, size_t k, size_t axis) {
  Term out = term;
  out.index[axis] = taps.index[k];
  const Expr& weight = taps.weight[k];
  if (weight) out.weight = term.weight ? term.weight * weight : weight;
  if (taps.keeps_size && k != taps.own) out.left_out = term.left_out ? logical_or(term.left_out, taps.keeps_size) : taps.keeps_size;
  return out;
}

}  // namespace

Result<LoopForm> form_of_resize(const NodeView& view) {
  TRY(require_known_ranks(view));
  if (view.attributes->integer("antialias", 0) != 0 || view.attributes->integer("exclude_outside", 0) != 0) {
    return refuse(view, Code::not_supported, "not supported yet: a loop form with antialias or exclude_outside");
  }
  const Type& result = view.outputs[0];
  const DType compute = is_float(result.dtype) ? compute_dtype(result.dtype) : DType::f32;
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Term> terms = {{axis_indices(view.rank(0))}};
  for (const ResizedAxis& r : TRY(resized_axes(view, 2, 3))) {
    if (!r.known) return refuse(view, Code::not_supported, "not supported yet: a loop form for scales that are not known");
    const Taps taps = TRY(taps_of(view, r, compute));
    std::vector<Term> next;
    for (const Term& term : terms)
      for (size_t k = 0; k < taps.index.size(); ++k) next.push_back(with_tap(term, taps, k, static_cast<size_t>(r.axis)));
    terms = std::move(next);
  }
  if (terms.size() > 64) return refuse(view, Code::not_supported, "not supported yet: a loop form with more than 64 neighbours");
  Expr sum;
  for (Term& t : terms) {
    const Expr x = load(loop, operand_access(view, 0, std::move(t.index)));
    Expr term = t.weight ? cast(x, compute) * t.weight : x;
    if (t.left_out) term = select(t.left_out, Expr(-0.0), term);
    sum = sum ? sum + term : term;
  }
  loop.outputs.push_back(full_output(result.dtype, *result.shape, sum));
  return single_loop_form(std::move(loop));
}

}  // namespace tenon::ops
