// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

#include <bit>
#include <cmath>

#include "ops/infer/elementwise.h"

namespace tenon::ops {

Draw::Draw(const NodeView& view) : state_(std::bit_cast<uint32_t>(view.attributes->number("seed", 1.0f))) {}

double Draw::uniform() {  // splitmix64, after Steele, Lea and Flood 2014
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double Draw::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * M_PI * uniform());
}

namespace {
Result<DType> drawn_dtype(const NodeView& view, DType otherwise) {
  const bool given = view.attributes->has("dtype");
  const auto dtype = given ? dtype_from_onnx(view.attributes->integer("dtype", 0)) : otherwise;
  if (!dtype) return refuse(view, Code::bad_attribute, "'dtype' names no dtype");
  if (*dtype == DType::none || is_comparable(*dtype)) return *dtype;
  return refuse(view, Code::dtype_mismatch, "only numbers are drawn")
      .expected("a type of numbers or bool, by 'dtype' or by the operand")
      .found(std::string(name_of(*dtype)));
}
}  // namespace

Result<void> infer_random(NodeView& view) {
  const Ints shape = view.attributes->ints("shape");
  for (int64_t s : shape) {
    if (s < 0) return refuse(view, Code::bad_attribute, "a size is negative");
  }
  set_output(view, 0, Type(TRY(drawn_dtype(view, DType::f32)), DimList(shape.begin(), shape.end())));
  return {};
}

Result<void> infer_random_like(NodeView& view) {
  TRY(same_shape_and_dtype(view));
  view.outputs[0].dtype = TRY(drawn_dtype(view, view.outputs[0].dtype));
  return {};
}

Result<void> fill_random(Call& call, Sizes shape, const std::function<double(Draw&)>& next) {
  Tensor* out = TRY(call.make(0, std::move(shape)));
  Draw draw(call.view);
  for (int64_t i = 0; i < out->count(); ++i) out->set_number(i, next(draw));
  return {};
}

}  // namespace tenon::ops
