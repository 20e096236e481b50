// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/tensor.h"
#include "plugin/object.h"

namespace tenon::plugin {

/// A graph that a node adds while its model is built, for its `enqueue` to run.
struct AddedGraph {
  std::string text;
  std::vector<Tensor> constants;  ///< what @0, @1, ... are in it
};

/// The value of an operand that is a constant; an empty handle: it is none.
using ConstantOf = FunctionRef<Result<Tensor>(uint32_t operand)>;

/// In the order of their numbers. operands: how many the node has. Tensors that `value_of` gave and the graph has are not copied.
/// Errors: what `add_graphs` says; those of value_of.
Result<std::vector<AddedGraph>> added_graphs(const Object& object, uint32_t operands, ConstantOf value_of);

}  // namespace tenon::plugin
