// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/widen_types.h"

#include "ops/core/replace_node.h"
#include "ops/core/wider_types.h"
#include "ops/definition/precision.h"
#include "ops/versions/onnx_schema.h"

namespace tenon::ops {
namespace {

/// Types that keep all values of one, narrow ones first.
std::span<const DType> wider_types(DType dtype) {
  static constexpr DType kFloats[] = {DType::f32, DType::f64}, kIntegers[] = {DType::i32, DType::i64}, kLong[] = {DType::i64};
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return kFloats;
    case DType::f32: return std::span(kFloats).subspan(1);
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16: return kIntegers;
    case DType::i32:
    case DType::u32: return kLong;
    default: return {};
  }
}

/// The casts before and after the node are nodes of the opset too.
bool can_cast(const ir::Type& type, int64_t opset) {
  const OnnxSchema* const cast = onnx_schema("", "Cast", opset);
  return cast && cast->inputs[0].types.contains(type);
}

/// The node on operands of types that the opset allows, inferred; nullopt: there are none.
std::optional<NodeView> widened(const NodeView& narrow, int64_t opset) {
  NodeView wide = narrow;
  bool any = false;
  for (size_t k = 0; k < narrow.explicit_inputs; ++k) {
    if (!narrow.has(k)) continue;
    const TypeSet* const allowed = types_of_operand(*narrow.op, opset, k);
    if (!allowed || allowed->contains(narrow.type(k))) continue;
    const auto candidates = wider_types(narrow.type(k).dtype);
    const auto fits = std::ranges::find_if(candidates, [&](DType dtype) { return allowed->contains(ir::Type(dtype)); });
    if (fits == candidates.end() || !can_cast(narrow.type(k), opset)) return std::nullopt;
    wide.inputs[k].type.dtype = *fits;
    wide.inputs[k].constant = nullptr;
    any = true;
  }
  if (!any || !narrow.op->infer(wide) || !same_in_wider(narrow, wide)) return std::nullopt;
  return wide;
}

}  // namespace

Result<bool> widen_types(ir::Graph& graph, ir::NodeId node, int64_t opset) {
  const NodeView narrow = graph.view(node);
  if (!narrow.bodies.empty()) return false;
  const auto wide = widened(narrow, opset);
  if (!wide) return false;
  const ir::Attributes attributes = graph.node(node).attributes;
  TRY(replace_node(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> operands(in.begin(), in.end());
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k]) operands[k] = as_dtype(build, in[k], view.type(k).dtype, wide->type(k).dtype);
    std::vector<ir::ValueId> results = build.many(*view.op, std::move(operands), view.outputs.size(), attributes);
    for (size_t k = 0; k < results.size(); ++k)
      if (results[k]) results[k] = as_dtype(build, results[k], wide->outputs[k].dtype, view.outputs[k].dtype);
    return results;
  }));
  return true;
}

}  // namespace tenon::ops
