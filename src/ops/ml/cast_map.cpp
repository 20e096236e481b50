// SPDX-License-Identifier: Apache-2.0
// The values of a map as a tensor [1, n], in the order of their keys.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/scalar.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"
#include "ops/ml/lookup_table.h"

namespace tenon::ops::op_cast_map {

namespace {

constexpr int64_t kMostColumns = int64_t{1} << 32;

struct Form {
  DType to = DType::f32;
  bool sparse = false;
  int64_t columns = 0;  ///< of the sparse form: one for each key from 0 on
};

Result<Form> form_of_map(const NodeView& view) {
  Form form;
  const std::string to = view.attributes->text("cast_to", "TO_FLOAT"), shape = view.attributes->text("map_form", "DENSE");
  if (to != "TO_FLOAT" && to != "TO_STRING" && to != "TO_INT64")
    return refuse(view, Code::bad_attribute, "cast_to has an unknown value").expected("TO_FLOAT, TO_STRING or TO_INT64").found(to);
  if (shape != "DENSE" && shape != "SPARSE")
    return refuse(view, Code::bad_attribute, "map_form has an unknown value").expected("DENSE or SPARSE").found(shape);
  form.to = to == "TO_FLOAT" ? DType::f32 : to == "TO_STRING" ? DType::string : DType::i64;
  form.sparse = shape == "SPARSE";
  form.columns = view.attributes->integer("max_map", 1);
  if (form.sparse && (form.columns < 1 || form.columns > kMostColumns))
    return refuse(view, Code::bad_attribute, "max_map is no number of columns").expected("1 to 2^32").found(std::to_string(form.columns));
  return form;
}

Result<void> infer(NodeView& view) {
  const Form form = TRY(form_of_map(view));
  TRY(require_map(view, 0, DType::i64));
  TRY(require_dtype(view, 0, [](DType d) { return d == DType::f32 || d == DType::string; }, "f32 or string"));
  set_output(view, 0, Type(form.to, {Dim(1), form.sparse ? Dim(form.columns) : view.symbols->fresh()}));
  return {};
}

/// Errors: bad_input where a text is no number.
Result<void> store(const Call& call, Tensor& y, int64_t at, const Tensor& values, int64_t k) {
  const bool from_text = values.dtype() == DType::string;
  if (y.dtype() == DType::string) {
    y.mutable_strings()[static_cast<size_t>(at)] =
        from_text ? values.strings()[static_cast<size_t>(k)] : std::to_string(static_cast<float>(values.number(k)));
    return {};
  }
  if (!from_text) {
    if (y.dtype() == DType::i64) y.set_integer(at, saturate_number(DType::i64, values.number(k)));
    else y.set_number(at, values.number(k));
    return {};
  }
  const std::string& text = values.strings()[static_cast<size_t>(k)];
  char* end = nullptr;
  if (y.dtype() == DType::i64) y.set_integer(at, std::strtoll(text.c_str(), &end, 10));
  else y.set_number(at, std::strtod(text.c_str(), &end));
  if (text.empty() || *end != 0) return refuse(call.view, Code::bad_input, "a text of the map is no number").found("'" + text + "'");
  return {};
}

Result<void> evaluate(Call& call) {
  const Form form = TRY(form_of_map(call.view));
  const Tensor &keys = call.in[0]->elements()[0], &values = call.in[0]->elements()[1];
  std::vector<int64_t> order(static_cast<size_t>(keys.count()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::sort(order, {}, [&](int64_t k) { return keys.integer(k); });
  Tensor& y = *TRY(call.make(0, {1, form.sparse ? form.columns : keys.count()}));
  for (size_t place = 0; place < order.size(); ++place) {
    const int64_t key = keys.integer(order[place]), at = form.sparse ? key : static_cast<int64_t>(place);
    if (at < 0) return refuse(call.view, Code::index_out_of_range, "a key of the map is below 0").found(std::to_string(key));
    if (at < y.count()) TRY(store(call, y, at, values, order[place]));
  }
  return {};
}

}  // namespace

OP(cast_map) {
    .name = "CastMap",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"cast_to: string = TO_FLOAT", "map_form: string = DENSE", "max_map: int = 1"}},
    .accepts_containers = true,
    .infer = infer,
    .reference = evaluate,
};

}  // namespace tenon::ops::op_cast_map
