// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/ml/lookup_table.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_zip_map {

namespace {

/// The class labels, from the list (integers or strings) that the node has.
Result<Tensor> labels(const NodeView& view) {
  const ir::Strings names = texts_named(view, "classlabels_strings");
  const Ints numbers = view.attributes->ints("classlabels_int64s");
  if (names.empty() == numbers.empty())
    return refuse(view, Code::bad_attribute, "class labels must be given in one list")
        .expected("classlabels_strings or classlabels_int64s");
  return names.empty() ? integers(numbers) : texts(names);
}

Result<void> infer(NodeView& view) {
  const Tensor keys = TRY(labels(view));
  TRY(require_dtype(view, 0, [](DType d) { return d == DType::f32; }, "f32"));
  TRY(require_rank(view, 0, 1, 2));
  if (view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), keys.count(), "columns and class labels"));
  set_output(view, 0, Type::map(keys.dtype(), DType::f32, ValueKind::sequence_of_maps));
  return {};
}

/// One map a row.
Result<void> evaluate(Call& call) {
  const Tensor& x = *call.in[0];
  const Tensor keys = TRY(labels(call.view));
  const int64_t columns = keys.count(), rows = x.count() / columns;
  std::vector<Tensor> maps;
  for (int64_t r = 0; r < rows; ++r) {
    Tensor values = TRY(Tensor::make(x.dtype(), {columns}));
    for (int64_t c = 0; c < columns; ++c) copy_element(values, c, x, r * columns + c);
    maps.push_back(Tensor::of_elements(DType::map, {keys, std::move(values)}));
  }
  call.out[0] = Tensor::of_elements(DType::sequence, std::move(maps));
  return {};
}

}  // namespace

OP(zip_map) {
    .name = "ZipMap",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Z"}},
    .attributes = {{"classlabels_int64s: ints", "classlabels_strings: strings"}},
    .infer = infer,
    .reference = evaluate,
};

}  // namespace tenon::ops::op_zip_map
