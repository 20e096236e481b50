// SPDX-License-Identifier: Apache-2.0
// Bindings of the functions that take a model: compile and partition.
#pragma once
#include <nanobind/nanobind.h>

namespace tenon_python {

void bind_compile(nanobind::module_& m);

}  // namespace tenon_python
