// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/refuse.h"
#include "ops/elementwise/cast/conversion.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_cast {

namespace {

/// Before opset 6 `to` was the name of a dtype.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  const ir::Attribute* to = graph.node(node).attributes.find("to");
  const auto* name = to ? std::get_if<std::string>(to) : nullptr;
  if (opset >= 6 || !name) return {};
  constexpr std::string_view kNames[] = {"UNDEFINED", "FLOAT", "UINT8",   "INT8",   "UINT16", "INT16",  "INT32",     "INT64",
                                         "STRING",    "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
  const auto at = std::ranges::find(kNames, *name);
  if (at == std::end(kNames) || at == std::begin(kNames))
    return refuse(graph.view(node), Code::bad_attribute, "to names no dtype").expected("FLOAT, INT64, ...").found(*name);
  graph.set_attribute(node, "to", static_cast<int64_t>(at - std::begin(kNames)));
  return {};
}

Folded fold(const NodeView& view, std::span<const ir::ConstantRef> in) {
  const DType from = in[0]->dtype, to = view.outputs[0].dtype;
  if (!is_number(from) || !is_number(to) || bits_of(from) < 8 || bits_of(to) < 8) return std::nullopt;
  return std::vector{ir::cast(in[0], to)};
}

}  // namespace

OP(cast) {
    .name = "Cast",
    .since_version = 28,
    .inputs = {{"input"}},
    .attributes = {{"to: int!", "saturate: int = 1 since 19", "round_mode: string = up since 24"}},
    .infer = [](NodeView& view) -> Result<void> { return infer_cast(view, TRY(cast_target(view))); },
    .loop_form = form_of_cast,
    .fold = fold,
    .reference = [](Call& call) { return reference_of_cast(call, call.view.attributes->integer("saturate", 1) != 0); },
    .upgrade = upgrade,
    .samples = {{"f32[2,3]; to=11", "f32[5] = [-1.5, 1.5, 2.7, -2.7, 0]; to=7", "i64[4]; to=1", "f64[0]; to=1", "f32[]; to=10",
                 "f16[3]; to=16", "bool[3]; to=1", "f32[4] = [0, -0.0, 0.5, nan]; to=9", "i32[3]; to=2", "i64[4] = [0, 1, -1, 300]; to=9",
                 "u8[3]; to=6", "f32[3] = [-300, 300, 1]; to=2", "f32[7] = [0.3, -500, 449, 0.003, -0.0, nan, 17]; to=17",
                 "f8e4m3fn[2,9]; to=1"}},
};

}  // namespace tenon::ops::op_cast
