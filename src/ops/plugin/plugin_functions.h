// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

// The functions of the OpDef of a plugin's op. They get the plugin by `plugin_of(*view.op)`.

Result<void> infer_plugin(NodeView& view);
std::vector<ir::ValueId> define_plugin(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs);
/// OpDef::reference: calls the plugin's `enqueue`. In Mode::wide, floats are rounded to their declared dtypes before.
Result<void> run_plugin(Call& call);

}  // namespace tenon::ops
