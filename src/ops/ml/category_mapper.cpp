// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/dictionary.h"

namespace tenon::ops::op_category_mapper {

namespace {

Result<Dictionary> dictionary(const NodeView& view) {
  const Tensor words = texts(texts_named(view, "cats_strings")), numbers = integers(view.attributes->ints("cats_int64s"));
  if (dtype_of(view, 0) == DType::string) {
    Tensor otherwise = *Tensor::make(DType::i64, {});
    otherwise.set_integer(0, view.attributes->integer("default_int64", -1));
    return Dictionary{words, numbers, std::move(otherwise)};
  }
  return Dictionary{numbers, words, text(view.attributes->text("default_string", "_Unused"))};
}

}  // namespace

/// Texts to their numbers, or numbers to their texts.
OP(category_mapper) {
    .name = "CategoryMapper",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"cats_int64s: ints", "cats_strings: strings", "default_int64: int = -1", "default_string: string = _Unused"}},
    .infer = [](NodeView& view) -> Result<void> {
      if (dtype_of(view, 0) == DType::none) return {};
      return infer_look_up(view, TRY(dictionary(view)));
    },
    .reference = [](Call& call) -> Result<void> { return look_up(call, TRY(dictionary(call.view))); },
    .first = 1,
};

}  // namespace tenon::ops::op_category_mapper
