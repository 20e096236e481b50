// SPDX-License-Identifier: Apache-2.0
#include "ops/training/optimiser.h"

#include <algorithm>

#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"

namespace tenon::ops {

using ir::ValueId;

ValueId Optimiser::count(size_t k) const { return cast_to(build, in[kCount], dtype(k)); }
ValueId Optimiser::rate(size_t k) const { return cast_to(build, in[kRate], dtype(k)); }

ValueId Optimiser::gradient(size_t k) const {
  const double norm = attribute("norm_coefficient", 0);
  return norm == 0 ? tensor(1, k) : op("Add", times(k, tensor(0, k), norm), tensor(1, k));
}

size_t results_of_optimiser(const NodeView& view, size_t groups) {
  const size_t operands = std::max(view.explicit_inputs, Optimiser::kFirst) - Optimiser::kFirst;
  return std::max<size_t>(operands / groups * (groups - 1), 1);
}

size_t optimised_tensors(const NodeView& view, size_t groups) {
  const size_t operands = view.explicit_inputs;
  const size_t tensors = operands > Optimiser::kFirst ? (operands - Optimiser::kFirst) / groups : 0;
  const bool fits = Optimiser::kFirst + tensors * groups == operands && view.outputs.size() == tensors * (groups - 1);
  return fits ? tensors : 0;
}

Result<void> infer_optimiser(NodeView& view, size_t groups) {
  const size_t tensors = optimised_tensors(view, groups);
  if (tensors == 0)
    return refuse(view, Code::bad_graph, "operands and results do not fit each other")
        .expected("2 and " + std::to_string(groups) + " operands, " + std::to_string(groups - 1) + " results a tensor")
        .found(std::to_string(view.explicit_inputs) + " operands, " + std::to_string(view.outputs.size()) + " results");
  for (size_t k = 0; k < tensors * groups; ++k) {
    TRY(require_dtype(view, Optimiser::kFirst + k, is_arithmetic_float, "a float type"));
    TRY(require_same_dtype(view, Optimiser::kFirst + k % tensors, Optimiser::kFirst + k));
  }
  TRY(infer_by_definition(view));
  for (size_t k = 0; k < view.outputs.size(); ++k) {
    const DType dtype = dtype_of(view, Optimiser::kFirst + k % tensors);
    if (view.outputs[k].dtype != dtype) set_output(view, k, Type(dtype));
  }
  return {};
}

}  // namespace tenon::ops
