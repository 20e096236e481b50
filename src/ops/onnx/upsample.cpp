// SPDX-License-Identifier: Apache-2.0
#include "ops/resize_helpers.h"

namespace tenon::ops {

/// What Resize was called before opset 10: coordinates divided by the scale, rounded down.
OP(upsample) {
    .name = "Upsample",
    .since = 10,
    .inputs = {"x", "scales"},
    .attributes = {"mode: string = nearest"},
    .infer = [](NodeView& view) { return infer_resized(view, 1, -1); },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return std::vector{build("Resize", {in[0], {}, in[1]},
                                   {{"mode", view.attributes->text("mode", "nearest")},
                                    {"coordinate_transformation_mode", std::string("asymmetric")},
                                    {"nearest_mode", std::string("floor")}})};
        },
    .upgrade = [](ir::Graph& graph, ir::NodeId node,
                  int opset) { return opset < 9 ? attribute_to_operand(graph, node, "scales", 1, DType::f32) : Result<void>(); },
    .lowest_opset = [](const NodeView&) { return 9; },
    .samples = {"f32[1,1,2,2], f32[4] = [1, 1, 2, 3]", "f32[1,1,2,2], f32[4] = [1, 1, 2, 2]; mode=linear"},
};

}  // namespace tenon::ops
