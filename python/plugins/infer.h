// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "plugins/python_op.h"

namespace tenon::python {

/// A list of tenon.Operand; None where an operand is missing.
nb::list operands_of(const tenon_host* host, std::span<const tenon_type* const> types);

/// By the function `shape`; else as operand 0 is. Raises what it raises, and TypeError, ValueError for what is no shape.
void infer_results(const PythonOp& op, const tenon_inference& inference);

}  // namespace tenon::python
