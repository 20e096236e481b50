// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"

#include "ops/core/refuse.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops {

Result<void> require_number(const NodeView& view, size_t input) {
  TRY(require_dtype(view, input, [](DType d) { return d == DType::i64; }, "int64"));
  TRY(require_rank(view, input, 0, 1));
  return view.type(input).has_rank() && view.rank(input) == 1 ? require_equal(view, view.type(input).dim(0), 1, "the number of elements")
                                                              : Result<void>();
}

Dim length_of(const NodeView& view, const std::optional<ir::ShapeData>& length) {
  return length && length->size() == 1 ? max((*length)[0], 0) : view.symbols->fresh();
}

Result<ir::Type> mask_type(const NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_number(view, k));
  const auto past = known_elements(view, 0), total = known_elements(view, 1);
  const Dim keys = length_of(view, total);
  const bool known = past && total && past->size() == 1 && total->size() == 1;
  const Dim queries = known ? max((*total)[0] - (*past)[0], 0) : view.symbols->fresh();
  return ir::Type(DType::boolean, {1, 1, queries, keys});
}

Result<DType> table_dtype(const NodeView& view, size_t weights) {
  const DType own = view.type(weights).dtype;
  const int64_t to = view.attributes->integer("to", static_cast<int64_t>(own));
  const DType table = static_cast<DType>(to);
  if (table != own && table != DType::f16 && table != DType::bf16 && table != DType::f32 && table != DType::f64)
    return refuse(view, Code::bad_attribute, "`to` is no float type").found(std::to_string(to));
  return table;
}

std::vector<ir::ValueId> tables_of(ir::Builder& build, ir::ValueId angle, DType dtype, DType table) {
  std::vector<ir::ValueId> out{build("Cos", {angle}), build("Sin", {angle})};
  if (table != dtype)
    for (ir::ValueId& v : out) v = build("Cast", {v}, {{"to", static_cast<int64_t>(table)}});
  return out;
}

ir::ValueId scalar_of(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, size_t input) {
  const Type& type = view.type(input);
  return type.has_rank() && type.rank() == 0 ? in[input] : build("Reshape", {in[input], build.ints({})});
}

ir::ValueId positions(ir::Builder& build, ir::ValueId first, ir::ValueId end, int axis) {
  std::vector<int64_t> others;
  for (int64_t a = 0; a < 4; ++a)
    if (a != axis) others.push_back(a);
  const ir::ValueId range = build("Range", {first ? first : build.scalar(DType::i64, 0), end, build.scalar(DType::i64, 1)});
  return build("Unsqueeze", {range, build.ints(others)});
}

}  // namespace tenon::ops
