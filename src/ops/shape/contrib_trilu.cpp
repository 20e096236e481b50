// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_contrib_trilu {

/// ONNX Runtime's op, which is older than ONNX's.
OP(contrib_trilu) {
    .name = "Trilu",
    .domain = "com.microsoft",
    .inputs = {{"X", "k?"}},
    .outputs = {{"Y"}},
    .attributes = {{"upper: int = 1"}},
    .infer = infer_by_definition,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return build.many(*build.graph().ops().find("", "Trilu"), {in.begin(), in.end()}, 1, *view.attributes);
        },
    .samples = {{"f32[3,4]", "f32[3,4]; upper=0", "i64[2,3,3], i64[] = -1; upper=0", "bool[2,2]"}},
};

}  // namespace tenon::ops::op_contrib_trilu
