// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// An op of a table with what the library says of it: what def_of looks at.
class DefinedOp : public ir::Op {
 public:
  /// `op_def` outlives the op; it is not read here.
  explicit DefinedOp(const OpDef& op_def) : def(op_def) {}
  const OpDef& def;
};

}  // namespace tenon::ops
