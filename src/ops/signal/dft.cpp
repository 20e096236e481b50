// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "ops/definition/plain_ops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reduce/reduction.h"
#include "ops/reference/arguments.h"
#include "ops/signal/fourier.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_dft {

namespace {

bool flag(const NodeView& view, std::string_view name) { return view.attributes->integer(name, 0) != 0; }

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  Type out(dtype_of(view, 0));
  const auto given = view.has(2) ? known_ints(view, 2) : Ints{-2};
  if (view.type(0).has_rank() && given && given->size() == 1) {
    const int axis = TRY(normalise_axis(view, given->front(), view.rank(0)));
    if (axis == view.rank(0) - 1) return refuse(view, Code::axis_out_of_range, "the last axis holds real and imaginary parts");
    out.shape = view.type(0).shape;
    Dim& length = (*out.shape)[axis];
    const bool back = flag(view, "inverse") && flag(view, "onesided");
    const auto wanted = view.has(1) ? known_elements(view, 1) : std::optional<ShapeData>();
    if (wanted && wanted->size() == 1) length = (*wanted)[0];
    else if (view.has(1)) length = view.symbols->fresh();
    else if (back) length = (length - 1) * 2;
    if (flag(view, "onesided") && !back) length = floor_div(length, 2) + 1;
    out.shape->back() = back ? 1 : 2;
  } else if (view.type(0).has_rank()) {
    out.shape.emplace();
    for (int k = 0; k + 1 < view.rank(0); ++k) out.shape->push_back(view.symbols->fresh());
    out.shape->push_back(flag(view, "inverse") && flag(view, "onesided") ? 1 : 2);
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const bool inverse = flag(call.view, "inverse"), onesided = flag(call.view, "onesided"), back = inverse && onesided;
  const int axis = TRY(normalise_axis(call.view, int_of(call, 2, -2), t.rank()));
  const int64_t size = t.shape()[axis], parts = t.shape().back();
  const int64_t length = int_of(call, 1, back ? 2 * (size - 1) : size);
  if (length < 1 || parts < 1 || parts > 2)
    return refuse(call.view, Code::bad_input, "dft_length must be positive and the last axis 1 or 2");
  Sizes shape = t.shape();
  shape[axis] = onesided && !back ? length / 2 + 1 : length;
  shape.back() = back ? 1 : 2;
  Tensor& y = *TRY(call.make(0, shape));
  const std::vector<double> x = numbers_of(t);
  const std::vector<int> row{axis, t.rank() - 1};
  const RowOffsets from = row_offsets(t.shape(), row), to = row_offsets(shape, row);
  for (size_t b = 0; b < from.bases.size(); ++b) {
    std::vector<Complex> signal(length);
    for (int64_t k = 0; k < std::min(length, size); ++k) {
      const int64_t at = from.bases[b] + from.inner[k * parts];
      signal[k] = {x[at], parts == 2 ? x[from.bases[b] + from.inner[k * parts + 1]] : 0};
    }
    // One-sided spectra are of real signals: the other half mirrors them.
    for (int64_t k = 0; back && k < length; ++k) {
      if (k == 0 || 2 * k == length) signal[k] = signal[k].real();
      if (2 * k > length) signal[k] = std::conj(signal[length - k]);
    }
    const std::vector<Complex> result = fourier(signal, inverse);
    for (int64_t k = 0; k < shape[axis]; ++k) {
      y.set_number(to.bases[b] + to.inner[k * shape.back()], result[k].real());
      if (!back) y.set_number(to.bases[b] + to.inner[k * 2 + 1], result[k].imag());
    }
  }
  return {};
}

struct Transform {
  int axis = 0;
  FourierMatrix matrix;
};

/// The matrix of the transform; nullopt where a size is not known, or the matrix is too large for a constant.
std::optional<Transform> transform_of(const NodeView& view) {
  if (!view.type(0).has_rank()) return std::nullopt;
  const Type& x = view.type(0);
  const auto given = view.has(2) ? known_ints(view, 2) : Ints{-2}, wanted = view.has(1) ? known_ints(view, 1) : Ints{};
  if (!given || given->size() != 1 || !wanted) return std::nullopt;
  Transform t;
  int64_t axis = given->front();
  if (!wrap_axis(axis, x.rank()) || !x.dim(static_cast<int>(axis)).is_number() || !x.dim(-1).is_number()) return std::nullopt;
  t.axis = static_cast<int>(axis);
  const int64_t size = x.dim(t.axis).value();
  const bool onesided = flag(view, "onesided"), back = onesided && flag(view, "inverse");
  FourierMatrix& m = t.matrix;
  m.length = !wanted->empty() ? wanted->front() : back ? 2 * (size - 1) : size;
  m.inputs = std::min(size, back ? m.length / 2 + 1 : m.length);
  m.outputs = onesided && !back ? m.length / 2 + 1 : m.length;
  m.in_parts = x.dim(-1).value();
  m.out_parts = back ? 1 : 2;
  m.inverse = flag(view, "inverse");
  m.mirrored = back;
  return m.in_parts >= 1 && m.in_parts <= 2 && m.fits() ? std::optional(t) : std::nullopt;
}

/// OpDef::definition: one product with a constant matrix, whose rows are positions and parts.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto t = transform_of(view);
  if (!t) return {};
  const int rank = view.rank(0);
  const DType dtype = dtype_of(view, 0), wide = compute_dtype(dtype);
  Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(t->axis)], order[static_cast<size_t>(rank - 2)]);
  const bool transposes = t->axis != rank - 2;
  auto split = [&](ir::ValueId x, std::initializer_list<int64_t> last) {
    Ints sizes(static_cast<size_t>(rank - 2), 0);
    sizes.insert(sizes.end(), last);
    return build("Reshape", {x, build.ints(sizes)});
  };
  ir::ValueId x = cast_to(build, in[0], wide);
  if (t->matrix.inputs < view.type(0).dim(t->axis).value()) x = sliced(build, x, t->axis, 0, t->matrix.inputs);
  if (transposes) x = transposed(build, x, order);
  const ir::ValueId y = build("MatMul", {split(x, {t->matrix.inputs * t->matrix.in_parts}), build.constant(t->matrix.make(wide))});
  const ir::ValueId parts = split(y, {t->matrix.outputs, t->matrix.out_parts});
  return {cast_to(build, transposes ? transposed(build, parts, order) : parts, dtype)};
}

/// Opset 17 has the axis as an attribute, 1 where it is missing.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 20) return {};
  default_attribute(graph, node, "axis", int64_t{1});
  return attribute_to_operand(graph, node, "axis", 2);
}

}  // namespace

OP(dft) {
    .name = "DFT",
    .since_version = 20,
    .inputs = {{"input", "dft_length?", "axis?"}},
    .attributes = {{"inverse: int = 0", "onesided: int = 0"}},
    .infer = infer,
    .reference = evaluate,
    .definition = define,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView&) { return 20; },
    .first_opset = 17,
    .samples = {{"f32[1,10,1]", "f32[2,6,5,1], _, i64[] = 1; onesided=1", "f64[1,7,2]; inverse=1",
                 "f32[1,6,2], _, i64[] = 1; inverse=1, onesided=1", "f32[1,5,1], i64[] = 8", "f64[3,2,7,2], i64[] = 5, i64[] = 0",
                 "f64[4,2], i64[] = 9; inverse=1, onesided=1"}},
};

}  // namespace tenon::ops::op_dft
