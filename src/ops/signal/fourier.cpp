// SPDX-License-Identifier: Apache-2.0
#include "ops/signal/fourier.h"

#include <numbers>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops {

Result<void> infer_window(NodeView& view) {
  TRY(require_dtype(view, 0, is_index, "i32 or i64"));
  TRY(require_single_element(view, 0));
  const auto dtype = dtype_from_onnx(view.attributes->integer("output_datatype", 1));
  if (!dtype || !(is_arithmetic_float(*dtype) || is_integer(*dtype)))
    return refuse(view, Code::bad_attribute, "output_datatype is no number type");
  Type out(*dtype);
  const auto size = known_elements(view, 0);
  out.shape = DimList{size && size->size() == 1 ? (*size)[0] : view.symbols->fresh()};
  set_output(view, 0, std::move(out));
  return {};
}

int lowest_opset_of_window(const NodeView& view) {
  const auto size = known_ints(view, 0);
  return size && size->size() == 1 && (*size)[0] < 1 ? kNeverExported : 17;
}

Result<void> window_reference(Call& call, double (*value)(double phase)) {
  const int64_t size = call.in[0]->integer(0), period = call.view.attributes->integer("periodic", 1) != 0 ? size : size - 1;
  if (size < 0) return refuse(call.view, Code::bad_input, "a negative size").found(std::to_string(size));
  Tensor& y = *TRY(call.make(0, {size}));
  for (int64_t n = 0; n < size; ++n) y.set_number(n, value(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period)));
  return {};
}

Result<LoopForm> window_form(const NodeView& view, Expr (*value)(Expr phase)) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  if (!is_float(result.dtype)) return refuse(view, Code::not_supported, "not supported yet: a loop form for a window of integers");
  const Dim period = view.attributes->integer("periodic", 1) != 0 ? result.dim(0) : result.dim(0) - 1;
  const DType dtype = compute_dtype(result.dtype);
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  const Expr phase = Expr::constant(dtype, 2 * std::numbers::pi) * cast(Expr::axis(0), dtype) / cast(size_expr(period), dtype);
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value(phase)));
  return single_loop_form(std::move(loop));
}

std::vector<Complex> fourier(const std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  std::vector<Complex> roots(n), y(n);
  const double step = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
  for (size_t k = 0; k < n; ++k) roots[k] = std::polar(1.0, step * static_cast<double>(k));
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) y[k] += x[i] * roots[k * i % n];
    if (inverse) y[k] /= static_cast<double>(n);
  }
  return y;
}

bool FourierMatrix::fits() const {
  constexpr int64_t kElements = int64_t{1} << 24;
  const bool sane = length > 0 && inputs > 0 && outputs > 0 && length <= kElements && inputs <= kElements && outputs <= kElements;
  return sane && inputs * in_parts <= kElements / (outputs * out_parts);
}

Tensor FourierMatrix::make(DType dtype) const {
  auto made = Tensor::make(dtype, {inputs * in_parts, outputs * out_parts});
  TENON_ASSERT(made && fits());
  for (int64_t t = 0; t < inputs; ++t)
    for (int64_t k = 0; k < outputs; ++k) {
      const double phase = 2 * std::numbers::pi * static_cast<double>(t * k % length) / static_cast<double>(length);
      const double twice = mirrored && t != 0 && 2 * t != length ? 2 : 1, scale = inverse ? twice / static_cast<double>(length) : twice;
      const Complex w = std::polar(scale, inverse ? phase : -phase);
      const double parts[2][2] = {{w.real(), w.imag()}, {-w.imag(), w.real()}};
      for (int64_t i = 0; i < in_parts; ++i)
        for (int64_t o = 0; o < out_parts; ++o) made->set_number(((t * in_parts + i) * outputs + k) * out_parts + o, parts[i][o]);
    }
  return *std::move(made);
}

}  // namespace tenon::ops
