// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

#include <bit>

#include "ops/core/random_streams.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops {

Draws::Draws(const Call& call) : scope_(call.random) {
  const ir::Attributes& a = *call.view.attributes;
  if (a.has("seed")) scope_.seed = std::bit_cast<uint32_t>(a.number("seed", 0));
  else stream_ = static_cast<uint32_t>(a.integer(kStreamAttribute, 0));
}

Result<DType> drawn_dtype(const NodeView& view, DType otherwise) {
  const bool given = view.attributes->has("dtype");
  const auto dtype = given ? dtype_from_onnx(view.attributes->integer("dtype", 0)) : otherwise;
  if (!dtype) return refuse(view, Code::bad_attribute, "'dtype' names no dtype");
  if (*dtype == DType::none || is_number_or_bool(*dtype)) return *dtype;
  return refuse(view, Code::dtype_mismatch, "only numbers are drawn")
      .expected("a type of numbers or bool, by 'dtype' or by the operand")
      .found(std::string(name_of(*dtype)));
}

Result<void> infer_random(NodeView& view) {
  const Ints shape = view.attributes->ints("shape");
  for (int64_t s : shape) {
    if (s < 0) return refuse(view, Code::bad_attribute, "a size is negative");
  }
  set_output(view, 0, Type(TRY(drawn_dtype(view, DType::f32)), DimList(shape.begin(), shape.end())));
  return {};
}

Result<void> infer_random_like(NodeView& view) {
  TRY(infer_same_type(view));
  view.outputs[0].dtype = TRY(drawn_dtype(view, view.outputs[0].dtype));
  return {};
}

Result<void> fill_random(Call& call, Sizes shape, const std::function<double(const Draws&, int64_t)>& next) {
  Tensor* out = TRY(call.make(0, std::move(shape)));
  const Draws draws(call);
  for (int64_t i = 0; i < out->count(); ++i) out->set_number(i, next(draws, i));
  return {};
}

}  // namespace tenon::ops
