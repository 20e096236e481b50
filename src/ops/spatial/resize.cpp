// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/resized_axes.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_resize {

namespace {

/// Opset 10 has scales as operand 1 and one coordinate_transformation_mode and nearest_mode: asymmetric, floor.
Result<void> upgrade_resize(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset > 10) return {};
  const ir::ValueId scales = graph.node(node).inputs[1];
  put_operand(graph, node, 2, scales);
  graph.set_operand(node, 1, {});
  default_attribute(graph, node, "coordinate_transformation_mode", std::string("asymmetric"));
  default_attribute(graph, node, "nearest_mode", std::string("floor"));
  return {};
}

/// Whether opset 10 can express the node: scales, coordinates divided by them (asymmetric), rounded down.
bool fits_opset_10(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const std::string mode = a.text("mode", "nearest");
  const bool rounds_down = mode == "linear" || (mode == "nearest" && a.text("nearest_mode", "round_prefer_floor") == "floor");
  return rounds_down && a.text("coordinate_transformation_mode", "half_pixel") == "asymmetric" && !view.has(1) && view.has(2) &&
         !view.has(3) && a.integer("exclude_outside", 0) == 0;
}

int lowest_opset_of_resize(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  const std::string coordinates = a.text("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "half_pixel_symmetric") return 19;
  const bool is_of_opset_10 = view.has(1) && !view.has(2) && !view.has(3);  // written down already
  return is_of_opset_10 || fits_opset_10(view) ? 10 : 11;
}

Result<void> downgrade_to_scales(ir::Graph& graph, ir::NodeId node) {
  for (const char* name : {"coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "nearest_mode"})
    graph.erase_attribute(node, name);
  graph.set_operand(node, 1, graph.node(node).inputs[2]);
  graph.set_operand(node, 2, {});
  return {};
}

/// Before opset 13 roi and scales may be empty, but not missing.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 13) return {};
  if (opset == 10) return downgrade_to_scales(graph, node);
  for (uint32_t slot : {1u, 2u}) {
    const ir::Node& n = graph.node(node);
    if (slot < n.inputs.size() && n.inputs[slot]) continue;
    put_operand(graph, node, slot, graph.add_constant(ir::constant_of(Tensor::of_f32({0}, {}))));
  }
  return {};
}

}  // namespace

OP(resize) {
    .name = "Resize",
    .since_version = 19,
    .inputs = {{"x", "roi?", "scales?", "sizes?"}},
    .attributes = {{"antialias: int = 0 since 18", "axes: ints since 18", "coordinate_transformation_mode: string = half_pixel",
                    "cubic_coeff_a: float = -0.75", "exclude_outside: int = 0", "extrapolation_value: float = 0.0",
                    "keep_aspect_ratio_policy: string = stretch since 18", "mode: string = nearest",
                    "nearest_mode: string = round_prefer_floor"}},
    .infer = [](NodeView& view) { return infer_resized(view, 2, 3); },
    .loop_form = form_of_resize,
    .reference = reference_of_resize,
    .definition = define_resize,
    .upgrade = upgrade_resize,
    .lowest_opset = lowest_opset_of_resize,
    .first_opset = 10,
    .downgrade = downgrade,
    .samples = {{"f32[1,2,3,4], _, f32[4] = [1, 1, 2, 2]", "f32[1,1,3,4], _, f32[4] = [1, 1, 0.6, 0.6]",
                 "f32[1,1,3,4], _, _, i64[4] = [1, 1, 6, 7]; mode=linear",
                 "f32[1,1,4,4], _, f32[4] = [1, 1, 2, 2]; mode=linear, coordinate_transformation_mode=align_corners",
                 "f32[1,1,4,4], _, f32[4] = [1, 1, 0.8, 0.8]; mode=cubic",
                 "f32[1,1,4,4], _, f32[4] = [1, 1, 2, 3]; nearest_mode=floor, coordinate_transformation_mode=asymmetric",
                 "f16[2,3], _, _, i64[1] = [5]; axes=[1], mode=linear, coordinate_transformation_mode=pytorch_half_pixel",
                 "f32[1,1,4,4], _, f32[4] = [1, 1, 0.6, 0.6]; mode=linear, antialias=1",
                 "f32[1,1,5,5], _, f32[4] = [1, 1, 0.6, 0.6]; mode=cubic, coordinate_transformation_mode=half_pixel_symmetric",
                 "f32[1,1,4,4], f32[8] = [0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7], _, i64[4] = [1, 1, 3, 3]; mode=linear, "
                 "coordinate_transformation_mode=tf_crop_and_resize, extrapolation_value=10",
                 "f32[1,2,6,5], _, _, i64[2] = [3, 8]; mode=cubic, antialias=1, axes=[2,3], exclude_outside=1",
                 "f64[1,1,5,4], f32[8] = [0, 0, 0.4, 0.6, 1, 1, 1, 0.9], _, i64[4] = [1, 1, 3, 3]; mode=linear, "
                 "coordinate_transformation_mode=tf_crop_and_resize",
                 "u8[1,1,2,2], _, f32[4] = [1, 1, 2, 2]; nearest_mode=ceil",
                 "f32[2,4], _, _, i64[2] = [4, 7]; keep_aspect_ratio_policy=not_larger",
                 "f32[1,2,3,4], _, _, i64[2] = [5, 6]; axes=[3,2], mode=linear, keep_aspect_ratio_policy=not_smaller"}},
};

}  // namespace tenon::ops::op_resize
