// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/cast/conversion.h"

#include <cstring>

#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops {

Result<DType> cast_target(const NodeView& view) {
  const auto dtype = dtype_from_onnx(view.attributes->integer("to", 0));
  if (dtype && *dtype != DType::none) return *dtype;
  return refuse(view, Code::bad_attribute, "'to' names no dtype").found(std::to_string(view.attributes->integer("to", 0)));
}

Result<void> infer_cast(NodeView& view, DType dtype) {
  TRY(infer_same_type(view));
  const DType from = view.outputs[0].dtype;
  if (from == DType::string || dtype == DType::string) return refuse(view, Code::not_supported, "not supported yet: strings");
  view.outputs[0].dtype = dtype;
  if (dtype == DType::boolean) propagate_data(view, [](Dim d) { return std::optional(1 - equal_to(d, 0)); });
  else pass_data(view);
  return {};
}

namespace {
bool is_small_integer(DType dtype) { return is_integer(dtype) && bits_of(dtype) < 8; }
}  // namespace

Result<LoopForm> form_of_cast(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DType from = dtype_of(view, 0), to = view.outputs[0].dtype;
  if (bits_of(to) == 8 && is_float(to) && view.attributes->integer("saturate", 1) == 0)
    return refuse(view, Code::not_supported, "not supported yet: loops of casts to floats of 8 bits that do not saturate");
  if (!is_float(from) || !is_small_integer(to)) return index_form(view, 0, axis_indices(view.rank(0)));
  return map_form(view, [](std::span<const Expr> x) { return cast(x[0], DType::i32); });  // wraps, as ONNX specifies for 4 and 2 bits
}

namespace {

/// 2^n at least (or at most, or nearest to) `value`: what an 8-bit exponent without a mantissa can hold.
double power_of_two(double value, std::string_view round_mode) {
  if (!(value > 0) || std::isinf(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  const bool up = mantissa > 0.5 && (round_mode == "up" || (round_mode == "nearest" && mantissa >= 0.75));
  return std::ldexp(1.0, up ? exponent : exponent - 1);
}

/// Stores rounded to the dtype without saturation (8-bit floats go to infinity or NaN).
void store_unsaturated(Tensor& out, std::span<const double> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = encode_float(out.dtype(), values[i], false);
    std::memcpy(out.mutable_data() + i, &bits, 1);
  }
}

}  // namespace

Result<void> reference_of_cast(Call& call, bool saturate) {
  const Tensor& x = *call.in[0];
  Tensor* out = TRY(call.make(0, x.shape()));
  const DType to = out->dtype();
  if (!is_float(x.dtype())) {
    store_integers(*out, integers_of(x));
  } else if (is_float(to)) {
    if (to == DType::f8e8m0) {
      const std::string mode = call.view.attributes->text("round_mode", "up");
      for (int64_t i = 0; i < x.count(); ++i) out->set_number(i, power_of_two(x.number(i), mode));
    } else if (!saturate && bits_of(to) == 8) store_unsaturated(*out, numbers_of(x));
    else store_numbers(*out, numbers_of(x));
  } else {
    for (int64_t i = 0; i < x.count(); ++i) out->set_integer(i, saturate_number(is_small_integer(to) ? DType::i64 : to, x.number(i)));
  }
  return {};
}

}  // namespace tenon::ops
