// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// An op of a table of this floor, with its OpDef: def_of() casts to it.
class DefinedOp : public ir::Op {
 public:
  /// `op_def` outlives the op. The constructor does not read it: a derived class may own it.
  explicit DefinedOp(const OpDef& op_def) : def(op_def) {}
  const OpDef& def;
};

}  // namespace tenon::ops
