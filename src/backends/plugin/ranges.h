// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"
#include "plugin/layout/layout_conversion.h"

namespace tenon::backends {

/// The ranges of sizes that runs of a node may have, for the plugin function `configure`, in the chosen layouts (operands first). A model
/// has no usual sizes: they are the least sizes above 0.
class Ranges {
 public:
  Ranges(const ir::NodeView& view, const plugin::Layouts& layouts);
  const tenon_ranges& report() const { return ranges_; }

 private:
  plugin::TensorViews least_, usual_, most_;
  tenon_ranges ranges_;
};

}  // namespace tenon::backends
