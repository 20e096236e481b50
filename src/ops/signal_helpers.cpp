// SPDX-License-Identifier: Apache-2.0
#include "ops/signal_helpers.h"

#include <numbers>

namespace tenon::ops {

Result<void> infer_window(NodeView& view) {
  TRY(require_dtype(view, 0, is_index, "i32 or i64"));
  const auto dtype = dtype_from_onnx(view.attributes->integer("output_datatype", 1));
  if (!dtype || !(is_real_arithmetic(*dtype) || is_integer(*dtype)))
    return refuse(view, Code::bad_attribute, "output_datatype is no number type");
  Type out(*dtype);
  const auto size = elements(view, 0);
  out.shape = DimList{size && size->size() == 1 ? (*size)[0] : view.symbols->fresh()};
  set_output(view, 0, std::move(out));
  return {};
}

Result<void> window_reference(Call& call, double (*value)(double turn)) {
  const int64_t size = call.in[0]->integer(0), period = call.view.attributes->integer("periodic", 1) != 0 ? size : size - 1;
  if (size < 0) return refuse(call.view, Code::bad_input, "a negative size").found(std::to_string(size));
  Tensor& y = *TRY(call.make(0, {size}));
  for (int64_t n = 0; n < size; ++n) y.set_number(n, value(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(period)));
  return {};
}

std::vector<Complex> fourier(const std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  std::vector<Complex> turns(n), y(n);
  const double step = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
  for (size_t k = 0; k < n; ++k) turns[k] = std::polar(1.0, step * static_cast<double>(k));
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) y[k] += x[i] * turns[k * i % n];
    if (inverse) y[k] /= static_cast<double>(n);
  }
  return y;
}

}  // namespace tenon::ops
