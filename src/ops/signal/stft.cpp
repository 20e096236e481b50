// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/signal/fourier.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_stft {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, 3));
  for (size_t k : {1, 3}) {
    TRY(require_dtype(view, k, is_index, "i32 or i64"));
    TRY(require_single_element(view, k));
  }
  TRY(require_rank(view, 2, 1));
  Type out(dtype_of(view, 0));
  if (view.type(0).has_rank()) {
    const auto step = known_elements(view, 1);
    std::optional<Dim> length;
    if (view.has(3)) {
      if (const auto given = known_elements(view, 3); given && given->size() == 1) length = (*given)[0];
    } else if (view.has(2) && view.type(2).has_rank()) {
      length = view.type(2).dim(0);
    }
    Dim frames = view.symbols->fresh(), bins = view.symbols->fresh();
    if (length && step && step->size() == 1) frames = floor_div(view.type(0).dim(1) - *length, (*step)[0]) + 1;
    if (length) bins = view.attributes->integer("onesided", 1) != 0 ? floor_div(*length, 2) + 1 : *length;
    out.shape = DimList{view.type(0).dim(0), frames, bins, 2};
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const int64_t batch = t.shape()[0], size = t.shape()[1], parts = t.rank() == 3 ? t.shape()[2] : 1, step = call.in[1]->integer(0);
  const int64_t length = int_of(call, 3, call.has(2) ? call.in[2]->count() : size);
  if (step < 1 || length < 1 || length > size || parts < 1 || parts > 2)
    return refuse(call.view, Code::bad_input, "frame_step and frame_length must be positive and fit the signal");
  const int64_t frames = (size - length) / step + 1, bins = call.view.attributes->integer("onesided", 1) != 0 ? length / 2 + 1 : length;
  Tensor& y = *TRY(call.make(0, {batch, frames, bins, 2}));
  const std::vector<double> x = numbers_of(t);
  for (int64_t f = 0; f < batch * frames; ++f) {
    std::vector<Complex> frame(length);
    for (int64_t k = 0; k < length; ++k) {
      const int64_t at = (f / frames * size + f % frames * step + k) * parts;
      const double weight = !call.has(2) ? 1 : k < call.in[2]->count() ? call.in[2]->number(k) : 0;
      frame[k] = Complex(x[at], parts == 2 ? x[at + 1] : 0) * weight;
    }
    const std::vector<Complex> result = fourier(frame, false);
    for (int64_t k = 0; k < bins; ++k) {
      y.set_number((f * bins + k) * 2, result[k].real());
      y.set_number((f * bins + k) * 2 + 1, result[k].imag());
    }
  }
  return {};
}

/// Windowed frames times a constant matrix. Needs the length of a frame as a number.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.type(0).has_rank() || (view.has(2) && !view.type(2).has_rank())) return {};
  const auto given = view.has(3) ? known_number(view, 3) : std::nullopt;
  const auto weights = view.has(2) ? view.type(2).dim(0).number() : std::nullopt;
  const auto length = given ? std::optional(static_cast<int64_t>(*given)) : view.has(3) ? std::nullopt : weights;
  const auto parts = view.rank(0) == 3 ? view.type(0).dim(2).number() : std::optional<int64_t>(1);
  if (!length || !parts || *parts < 1 || *parts > 2 || (view.has(2) && weights != length)) return {};
  const bool onesided = view.attributes->integer("onesided", 1) != 0;
  FourierMatrix m{.length = *length, .inputs = *length, .outputs = onesided ? *length / 2 + 1 : *length, .in_parts = *parts};
  if (!m.fits()) return {};
  const DType dtype = dtype_of(view, 0), wide = compute_dtype(dtype);
  auto number = [&](int64_t n) { return build.scalar(DType::i64, static_cast<double>(n)); };
  const ir::ValueId step = build("Reshape", {cast_to(build, in[1], DType::i64), build.ints({})});
  const ir::ValueId rest = build("Sub", {size_of(build, in[0], 1), number(*length)});
  const ir::ValueId frames = build("Add", {build("Div", {rest, step}), number(1)});
  const ir::ValueId starts = build("Unsqueeze", {build("Mul", {iota(build, frames), step}), build.ints({1})});
  const ir::ValueId index = build("Add", {starts, iota(build, number(*length))});
  const ir::ValueId signal = view.rank(0) == 3 ? in[0] : build("Unsqueeze", {in[0], build.ints({2})});
  ir::ValueId x = cast_to(build, build("Gather", {signal, index}, {{"axis", int64_t{1}}}), wide);
  if (view.has(2)) x = build("Mul", {x, build("Unsqueeze", {cast_to(build, in[2], wide), build.ints({1})})});
  const ir::ValueId rows = build("Reshape", {x, build.ints({0, 0, m.inputs * m.in_parts})});
  const ir::ValueId y = build("MatMul", {rows, build.constant(m.make(wide))});
  return {cast_to(build, build("Reshape", {y, build.ints({0, 0, m.outputs, 2})}), dtype)};
}

/// Shape inference of the package onnx (1.23) takes the default for 0.
Result<void> make_onesided_explicit(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  default_attribute(graph, node, "onesided", int64_t{1});
  return {};
}

}  // namespace

OP(stft) {
    .name = "STFT",
    .since_version = 17,
    .inputs = {{"signal", "frame_step", "window?", "frame_length?"}},
    .attributes = {{"onesided: int = 1"}},
    .infer = infer,
    .reference = evaluate,
    .definition = define,
    .first_opset = 17,
    .make_explicit = make_onesided_explicit,
    .samples = {{"f32[1,32,1], i64[] = 8, f32[16]", "f32[2,20,1], i64[] = 4, _, i64[] = 8", "f64[1,20,2], i64[] = 5, f64[10]; onesided=0"}},
};

}  // namespace tenon::ops::op_stft
