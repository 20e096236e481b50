// SPDX-License-Identifier: Apache-2.0
#include "ops/cast_helpers.h"

#include <cstring>

#include "base/scalar.h"

namespace tenon::ops {

Result<DType> cast_target(const NodeView& view) {
  const auto dtype = dtype_from_onnx(view.attributes->integer("to", 0));
  if (dtype && *dtype != DType::none) return *dtype;
  return refuse(view, Code::bad_attribute, "'to' names no dtype").found(std::to_string(view.attributes->integer("to", 0)));
}

Result<void> infer_cast(NodeView& view, DType dtype) {
  TRY(same_shape_and_dtype(view));
  const DType from = view.outputs[0].dtype;
  if (from == DType::string || dtype == DType::string) return refuse(view, Code::not_supported, "not supported yet: strings");
  view.outputs[0].dtype = dtype;
  if (dtype == DType::boolean) propagate(view, [](Dim d) { return std::optional(1 - equal_to(d, 0)); });
  else pass_data(view);
  return {};
}

Result<LoopForm> form_of_cast(const NodeView& view) {
  TRY(require_ranks(view));
  return index_form(view, 0, axis_indices(view.rank(0)));
}

namespace {

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
    if (!saturate && bits_of(to) == 8) store_unsaturated(*out, numbers_of(x));
    else store_numbers(*out, numbers_of(x));
  } else {
    for (int64_t i = 0; i < x.count(); ++i) out->set_integer(i, saturate_number(to, x.number(i)));
  }
  return {};
}

}  // namespace tenon::ops
