// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/lookup_table.h"

namespace tenon::ops::op_category_mapper {

namespace {

Result<LookupTable> lookup_table(const NodeView& view) {
  const Tensor words = texts(texts_named(view, "cats_strings")), numbers = integers(view.attributes->ints("cats_int64s"));
  if (dtype_of(view, 0) == DType::string) {
    Tensor otherwise = *Tensor::make(DType::i64, {});
    otherwise.set_integer(0, view.attributes->integer("default_int64", -1));
    return LookupTable{words, numbers, std::move(otherwise)};
  }
  return LookupTable{numbers, words, text(view.attributes->text("default_string", "_Unused"))};
}

}  // namespace

/// Maps strings to integers, or integers to strings.
OP(category_mapper) {
    .name = "CategoryMapper",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"cats_int64s: ints", "cats_strings: strings", "default_int64: int = -1", "default_string: string = _Unused"}},
    .infer = [](NodeView& view) -> Result<void> {
      if (dtype_of(view, 0) == DType::none) return {};
      return infer_look_up(view, TRY(lookup_table(view)));
    },
    .reference = [](Call& call) -> Result<void> { return look_up(call, TRY(lookup_table(call.view))); },
    .first_opset = 1,
};

}  // namespace tenon::ops::op_category_mapper
