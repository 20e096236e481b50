// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/tensor.h"
#include "plugin/object.h"

namespace tenon::plugin {

/// A graph that an op adds to a node while a model is built, for its `enqueue` to run.
struct AddedGraph {
  std::string text;               ///< in Tenon's text form
  std::vector<Tensor> constants;  ///< values of @0, @1, ... in `text`
};

/// The value of an operand that is a constant; an empty handle: it is none.
using ConstantOf = FunctionRef<Result<Tensor>(uint32_t operand)>;

/// Calls `add_graphs`. operands: number of operands of the node. Tensors of `value_of` that a graph uses are not copied. Errors: those of
/// `add_graphs` and of value_of.
Result<std::vector<AddedGraph>> added_graphs(const Object& object, uint32_t operands, ConstantOf value_of);

}  // namespace tenon::plugin
