// SPDX-License-Identifier: Apache-2.0
// Resize by the formulas of the ONNX operator page, one axis after the other.
#include <algorithm>
#include <numeric>
#include <utility>

#include "ops/infer/axes.h"
#include "ops/reference/elements.h"
#include "ops/spatial/resized_axes.h"

namespace tenon::ops {

namespace {

constexpr double kNoElement = -1;

struct Plan {
  std::string mode, nearest, coordinates;
  bool antialias = false, exclude_outside = false;
  double cubic = -0.75, extrapolation = 0;
};

/// Sizes and scale of one axis, as numbers.
struct Line {
  size_t axis = 0;
  int64_t in = 0, out = 0;
  double scale = 1, begin = 0, end = 1;  ///< begin, end: region of interest
};

double coordinate(const Plan& plan, const Line& line, double x) {
  const double in = static_cast<double>(line.in), out = line.scale * in, whole = static_cast<double>(line.out);
  if (plan.coordinates == "asymmetric") return x / line.scale;
  if (plan.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / line.scale;
  if (plan.coordinates == "align_corners") return line.out <= 1 || out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (plan.coordinates == "pytorch_half_pixel") return line.out <= 1 ? 0 : (x + 0.5) / line.scale - 0.5;
  if (plan.coordinates == "half_pixel_symmetric") return in / 2 * (1 - whole / out) + (x + 0.5) / line.scale - 0.5;
  if (plan.coordinates == "tf_crop_and_resize") {
    return line.out > 1 ? line.begin * (in - 1) + x * (line.end - line.begin) * (in - 1) / (whole - 1)
                        : 0.5 * (line.begin + line.end) * (in - 1);
  }
  return (x + 0.5) / line.scale - 0.5;
}

double cubic_weight(double d, double a) {
  d = std::fabs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

int64_t nearest_place(const Plan& plan, double x) {
  if (plan.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (plan.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (plan.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

using Weights = std::vector<std::pair<int64_t, double>>;

/// The elements that output `at` reads along the axis, with their weights; indices are clamped to the edges.
Weights weights_of(const Plan& plan, const Line& line, int64_t at) {
  const double x = coordinate(plan, line, static_cast<double>(at));
  Weights out;
  if (plan.mode == "nearest") {
    out.emplace_back(nearest_place(plan, x), 1);
  } else {
    const double shrink = plan.antialias ? std::min(line.scale, 1.0) : 1.0;
    const double reach = plan.mode == "linear" ? 1 : 2;
    const int64_t base = static_cast<int64_t>(std::floor(x)), first = base + static_cast<int64_t>(std::floor(-reach / shrink)) + 1;
    const int64_t last = base + static_cast<int64_t>(std::ceil(reach / shrink));
    for (int64_t i = first; i <= last; ++i) {
      const double d = (static_cast<double>(i) - x) * shrink;
      out.emplace_back(i, plan.mode == "linear" ? std::max(0.0, 1 - std::fabs(d)) : cubic_weight(d, plan.cubic));
    }
  }
  double sum = 0;
  for (auto& [place, weight] : out) {
    if (plan.exclude_outside && (place < 0 || place >= line.in)) weight = 0;
    sum += weight;
  }
  for (auto& [place, weight] : out) {
    if (plan.exclude_outside || plan.antialias) weight /= sum;
    place = std::clamp<int64_t>(place, 0, line.in - 1);
  }
  return out;
}

void resize_line(const Plan& plan, const Line& line, std::vector<double>& values, Sizes& shape) {
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < shape.size(); ++d) (d < line.axis ? outer : inner) *= d == line.axis ? 1 : shape[d];
  std::vector<double> out(static_cast<size_t>(outer * line.out * inner), -0.0);  // which a sum starts from: one term stays what it is
  for (int64_t x = 0; x < line.out; ++x) {
    const Weights weights = weights_of(plan, line, x);
    const double at = coordinate(plan, line, static_cast<double>(x));
    const bool outside = plan.coordinates == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(line.in - 1));
    for (int64_t k = 0; k < outer * inner; ++k) {
      double& to = out[static_cast<size_t>((k / inner * line.out + x) * inner + k % inner)];
      if (outside) to = plan.extrapolation;
      else
        for (const auto& [place, weight] : weights)
          to += weight * values[static_cast<size_t>((k / inner * line.in + place) * inner + k % inner)];
    }
  }
  values = std::move(out);
  shape[line.axis] = line.out;
}

/// Sizes and scales from the operands of the call.
/// The output size for a scale. Errors: bad_input where the scale is invalid.
Result<int64_t> size_at(const Call& call, double size) {
  if (size >= 0 && size < 0x1p40) return static_cast<int64_t>(size);
  return refuse(call.view, Code::bad_input, "a scale gives no size").found(std::to_string(size));
}

Result<std::vector<Line>> lines_of(const Call& call) {
  const Sizes& shape = call.in[0]->shape();
  Ints axes = call.view.attributes->ints("axes");
  if (!call.view.attributes->has("axes"))
    for (size_t a = 0; a < shape.size(); ++a) axes.push_back(static_cast<int64_t>(a));
  const bool by_size = call.has(3) && call.in[3]->count() > 0;
  if (!by_size && (!call.has(2) || call.in[2]->count() == 0))
    return refuse(call.view, Code::bad_graph, "neither scales nor sizes are given");
  const Tensor& given = *call.in[by_size ? 3 : 2];
  if (given.count() != static_cast<int64_t>(axes.size()))
    return refuse(call.view, Code::shape_mismatch, "scales or sizes have a wrong length");
  std::vector<Line> lines;
  for (size_t i = 0; i < axes.size(); ++i) {
    Line line;
    line.axis = static_cast<size_t>(TRY(normalise_axis(call.view, axes[i], static_cast<int>(shape.size()))));
    line.in = shape[line.axis];
    line.scale = by_size ? static_cast<double>(given.integer(static_cast<int64_t>(i))) / static_cast<double>(line.in)
                         : given.number(static_cast<int64_t>(i));
    if (by_size) line.out = given.integer(static_cast<int64_t>(i));
    else line.out = TRY(size_at(call, std::floor(line.scale * static_cast<double>(line.in))));
    if (call.has(1) && call.in[1]->count() == 2 * given.count()) {
      line.begin = call.in[1]->number(static_cast<int64_t>(i));
      line.end = call.in[1]->number(static_cast<int64_t>(i) + given.count());
    }
    lines.push_back(line);
  }
  const std::string policy = call.view.attributes->text("keep_aspect_ratio_policy", "stretch");
  if (!by_size || policy == "stretch" || lines.empty()) return lines;
  double scale = lines[0].scale;
  for (const Line& l : lines) scale = policy == "not_larger" ? std::min(scale, l.scale) : std::max(scale, l.scale);
  for (Line& l : lines) {
    l.scale = scale;
    l.out = TRY(size_at(call, std::floor(scale * static_cast<double>(l.in) + 0.5)));
  }
  return lines;
}

}  // namespace

Result<void> reference_of_resize(Call& call) {
  const ir::Attributes& a = *call.view.attributes;
  Plan plan;
  plan.mode = a.text("mode", "nearest");
  plan.nearest = a.text("nearest_mode", "round_prefer_floor");
  plan.coordinates = a.text("coordinate_transformation_mode", "half_pixel");
  plan.antialias = a.integer("antialias", 0) != 0;
  plan.exclude_outside = plan.mode != "nearest" && a.integer("exclude_outside", 0) != 0;
  plan.cubic = a.number("cubic_coeff_a", -0.75f);
  plan.extrapolation = a.number("extrapolation_value", 0);
  const Tensor& x = *call.in[0];
  const bool picks = plan.mode == "nearest";  // elements as they are, found by their number
  std::vector<double> values(static_cast<size_t>(picks ? x.count() : 0));
  if (picks) std::iota(values.begin(), values.end(), 0);
  else values = numbers_of(x);
  const double outside = std::exchange(plan.extrapolation, picks ? kNoElement : plan.extrapolation);
  Sizes shape = x.shape();
  for (const Line& line : TRY(lines_of(call))) {
    if (line.out < 0 || (line.in == 0 && line.out > 0)) return refuse(call.view, Code::shape_mismatch, "there is nothing to resize");
    Sizes next = shape;
    next[line.axis] = line.out;
    const auto count = checked_count(next);
    if (!count || *count > call.byte_limit / static_cast<int64_t>(sizeof(double)))
      return refuse(call.view, Code::limit_exceeded, "the result is too large");
    if (line.out != line.in || line.scale != 1 || plan.coordinates == "tf_crop_and_resize") resize_line(plan, line, values, shape);
  }
  Tensor* out = TRY(call.make(0, shape));
  if (!picks) store_numbers(*out, values);
  for (int64_t i = 0; picks && i < out->count(); ++i) {
    const double source = values[static_cast<size_t>(i)];
    if (source != kNoElement) copy_element(*out, i, x, static_cast<int64_t>(source));
    else if (out->has_bytes()) out->set_number(i, outside);
  }
  return {};
}

}  // namespace tenon::ops
