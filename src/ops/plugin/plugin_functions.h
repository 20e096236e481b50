// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

// What an OpDef of a plugin has for functions; see OpDef. They find the plugin by `plugin_of(*view.op)`.

Result<void> infer_plugin(NodeView& view);
std::vector<ir::ValueId> define_plugin(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs);
/// By its `enqueue`: there is no other definition of the op. Floats that the evaluator holds as f64 are rounded to their dtypes first.
Result<void> run_plugin(Call& call);

}  // namespace tenon::ops
