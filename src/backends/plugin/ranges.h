// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"
#include "plugin/layout/layout_conversion.h"

namespace tenon::backends {

/// The sizes that runs of a node may have, as `configure` gets them, in the layouts that are chosen (operands first). The usual ones are
/// the least that are not 0: a model does not say them.
class Ranges {
 public:
  Ranges(const ir::NodeView& view, const plugin::Layouts& layouts);
  const tenon_ranges& report() const { return ranges_; }

 private:
  plugin::TensorViews least_, usual_, most_;
  tenon_ranges ranges_;
};

}  // namespace tenon::backends
