// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/ml/lookup_table.h"

namespace tenon::ops::op_label_encoder {

namespace {

/// The elements of the attribute `what`_strings, `what`_int64s, `what`_floats or `what`_tensor that the node has; what: "keys" or "values".
Result<Tensor> listed(const NodeView& view, const std::string& what) {
  std::vector<Tensor> found;
  if (const auto list = texts_named(view, what + "_strings"); !list.empty()) found.push_back(texts(list));
  if (const auto list = view.attributes->ints(what + "_int64s"); !list.empty()) found.push_back(integers(list));
  if (const auto list = view.attributes->floats(what + "_floats"); !list.empty()) found.push_back(floats(list));
  if (const ir::Attribute* a = view.attributes->find(what + "_tensor")) found.push_back(std::get<Tensor>(*a));
  if (found.size() != 1)
    return refuse(view, Code::bad_attribute, what + " must be given in one list")
        .expected(what + "_strings, _int64s, _floats or _tensor")
        .found(std::to_string(found.size()) + " lists");
  return found[0];
}

Tensor otherwise(const NodeView& view, DType dtype) {
  const ir::Attributes& a = *view.attributes;
  if (const ir::Attribute* t = a.find("default_tensor"); t && std::get<Tensor>(*t).count() > 0) return std::get<Tensor>(*t);
  if (dtype == DType::string) return text(a.text("default_string", "_Unused"));
  if (is_float(dtype)) return Tensor::scalar(dtype, a.number("default_float", -0.0f));
  Tensor out = *Tensor::make(dtype, {});
  out.set_integer(0, a.integer("default_int64", -1));
  return out;
}

Result<LookupTable> lookup_table(const NodeView& view) {
  LookupTable d{TRY(listed(view, "keys")), TRY(listed(view, "values")), {}};
  d.default_value = otherwise(view, d.values.dtype());
  if ((d.default_value.dtype() == DType::string) != (d.values.dtype() == DType::string))
    return refuse(view, Code::bad_attribute, "the default has another type than the values");
  return d;
}

/// Version 1 has classes_strings alone: strings map to their positions, or, where X holds integers, positions to strings.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const ir::NodeView view = graph.view(node);
  if (opset >= 2 || !view.attributes->has("classes_strings")) return {};
  const ir::Strings classes = texts_named(view, "classes_strings");
  Ints positions;
  for (size_t k = 0; k < classes.size(); ++k) positions.push_back(static_cast<int64_t>(k));
  const bool from_text = dtype_of(view, 0) == DType::string;
  graph.erase_attribute(node, "classes_strings");
  graph.set_attribute(node, from_text ? "keys_strings" : "values_strings", classes);
  graph.set_attribute(node, from_text ? "values_int64s" : "keys_int64s", std::move(positions));
  return {};
}

}  // namespace

OP(label_encoder) {
    .name = "LabelEncoder",
    .domain = "ai.onnx.ml",
    .since_version = 4,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"default_float: float = -0.0", "default_int64: int = -1", "default_string: string = _Unused", "default_tensor: tensor",
                    "keys_floats: floats", "keys_int64s: ints", "keys_strings: strings", "keys_tensor: tensor", "values_floats: floats",
                    "values_int64s: ints", "values_strings: strings", "values_tensor: tensor"}},
    .infer = [](NodeView& view) -> Result<void> { return infer_look_up(view, TRY(lookup_table(view))); },
    .reference = [](Call& call) -> Result<void> { return look_up(call, TRY(lookup_table(call.view))); },
    .upgrade = upgrade,
    .first_opset = 1,
    .samples = {{"i64[5] = [0, 7, 3, 7, 9]; keys_int64s=[7,9], values_floats=[0.5,-1.5], default_float=2.5",
                 "f32[2,2] = [nan, 1, 0, -0.0]; keys_floats=[0.0,nan], values_int64s=[10,20]",
                 "i64[3] = [1, 2, 4]; keys_tensor=i64[2] = [1, 2], values_tensor=f64[2] = [0.25, 0.75], default_tensor=f64[1] = [9]"}},
};

}  // namespace tenon::ops::op_label_encoder
