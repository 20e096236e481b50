// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugins/python_op.h"

namespace tenon::python {

/// By the function `shape`; else as operand 0 is. Raises what it raises, and TypeError, ValueError for what is no shape.
void infer_results(const PythonOp& op, const tenon_inference& inference);

}  // namespace tenon::python
