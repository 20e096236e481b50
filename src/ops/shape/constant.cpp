// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_data.h"
#include "ops/core/refuse.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_constant {

namespace {

/// The value that the one attribute of the node gives.
Result<Tensor> value_of(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  if (a.size() != 1) return refuse(view, Code::bad_attribute, "exactly one attribute gives the value");
  const ir::Attribute& value = a.begin()->second;
  if (const auto* t = std::get_if<Tensor>(&value)) return *t;
  if (const auto* i = std::get_if<int64_t>(&value)) return Tensor::of_i64({}, std::span(i, 1));
  if (const auto* f = std::get_if<float>(&value)) return Tensor::of_f32({}, std::span(f, 1));
  if (const auto* ints = std::get_if<Ints>(&value)) return Tensor::of_i64({static_cast<int64_t>(ints->size())}, *ints);
  if (const auto* floats = std::get_if<ir::Floats>(&value)) return Tensor::of_f32({static_cast<int64_t>(floats->size())}, *floats);
  return refuse(view, Code::not_supported, "not supported yet: a constant of strings");
}

}  // namespace

OP(constant) {
    .name = "Constant",
    .since_version = 25,
    .attributes = {{"value: tensor", "value_int: int", "value_ints: ints", "value_float: float", "value_floats: floats",
                    "value_string: string", "value_strings: strings", "sparse_value: tensor"}},
    .infer = [](NodeView& view) -> Result<void> {
      const Tensor t = TRY(value_of(view));
      set_output(view, 0, Type(t.dtype(), DimList(t.shape().begin(), t.shape().end())));
      if (auto data = ir::shape_data_of(t)) set_data(view, 0, std::move(*data));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      call.out[0] = TRY(converted(TRY(value_of(call.view)), call.out_dtype(0)));
      return {};
    },
    .samples = {{"; value=f32[2] = [1, 2]", "; value_int=3", "; value_ints=[1, 2]", "; value_float=1.5", "; value_floats=[1, 2.5]",
                 "; value=bool[1] = [1]"}},
};

}  // namespace tenon::ops::op_constant
