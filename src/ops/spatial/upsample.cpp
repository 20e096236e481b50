// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/spatial/resized_axes.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_upsample {

namespace {

/// Before opset 9 the scales were an attribute, before 7 two: of the image's height and width.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 9) return {};
  if (opset < 7) {
    const ir::NodeView view = graph.view(node);
    for (const char* name : {"height_scale", "width_scale"})
      if (!view.attributes->has(name)) return refuse(view, Code::bad_attribute, std::string(name) + " is missing");
    graph.set_attribute(node, "scales",
                        ir::Floats{1, 1, view.attributes->number("height_scale", 1), view.attributes->number("width_scale", 1)});
    graph.erase_attribute(node, "height_scale");
    graph.erase_attribute(node, "width_scale");
    if (graph.node(node).attributes.text("mode", "") == "bilinear") graph.set_attribute(node, "mode", std::string("linear"));
  }
  return attribute_to_operand(graph, node, "scales", 1, DType::f32);
}

Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  return opset < 9 ? numbers_to_attribute(graph, node, 1, "scales") : Result<void>();
}

}  // namespace

/// The op before opset 10 that Resize replaced: coordinates divided by the scale, rounded down.
/// An export to opset 10 or newer writes the definition: no such opset has Upsample.
OP(upsample) {
    .name = "Upsample",
    .since_version = 10,
    .inputs = {{"x", "scales"}},
    .attributes = {{"mode: string = nearest"}},
    .infer = [](NodeView& view) { return infer_resized(view, 1, -1); },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return std::vector{build("Resize", {in[0], {}, in[1]},
                                   {{"mode", view.attributes->text("mode", "nearest")},
                                    {"coordinate_transformation_mode", std::string("asymmetric")},
                                    {"nearest_mode", std::string("floor")}})};
        },
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView& view) { return !view.has(1) || view.inputs[1].constant ? 7 : 9; },
    .downgrade = downgrade,
    .samples = {{"f32[1,1,2,2], f32[4] = [1, 1, 2, 3]", "f32[1,1,2,2], f32[4] = [1, 1, 2, 2]; mode=linear"}},
};

}  // namespace tenon::ops::op_upsample
