// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "plugins/python_op.h"

namespace tenon::python {

/// A list of tenon.Operand; None where an operand is missing.
nb::list operands_of(const tenon_host* host, std::span<const tenon_type* const> types);

/// Infers the results by the plugin's function `shape`; without one they have the shape of operand 0. Raises its exceptions, and TypeError
/// or ValueError for an invalid shape.
void infer_results(const PythonOp& op, const tenon_inference& inference);

}  // namespace tenon::python
