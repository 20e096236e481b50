// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"
#include "ops/ml/lookup_table.h"

namespace tenon::ops::op_dict_vectorizer {

namespace {

/// The keys of the columns, from the list (integers or strings) that the node has.
Result<Tensor> vocabulary(const NodeView& view) {
  const ir::Strings words = texts_named(view, "string_vocabulary");
  const Ints numbers = view.attributes->ints("int64_vocabulary");
  if (words.empty() == numbers.empty())
    return refuse(view, Code::bad_attribute, "the vocabulary must be given in one list").expected("string_vocabulary or int64_vocabulary");
  return words.empty() ? integers(numbers) : texts(words);
}

Result<void> infer(NodeView& view) {
  const Tensor words = TRY(vocabulary(view));
  TRY(require_map(view, 0, words.dtype()));
  set_output(view, 0, Type(dtype_of(view, 0), {Dim(1), Dim(words.count())}));
  return {};
}

/// One column a key: its value in the map, or 0 (or "") where the map lacks the key.
Result<void> evaluate(Call& call) {
  const Tensor words = TRY(vocabulary(call.view));
  const Tensor &keys = call.in[0]->elements()[0], &values = call.in[0]->elements()[1];
  const Tensor nothing = values.dtype() == DType::string ? text("") : Tensor::scalar(values.dtype(), 0);
  look_up(words, {keys, values, nothing}, *TRY(call.make(0, {1, words.count()})));
  return {};
}

}  // namespace

OP(dict_vectorizer) {
    .name = "DictVectorizer",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"int64_vocabulary: ints", "string_vocabulary: strings"}},
    .accepts_containers = true,
    .infer = infer,
    .reference = evaluate,
};

}  // namespace tenon::ops::op_dict_vectorizer
