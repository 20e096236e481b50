// SPDX-License-Identifier: Apache-2.0
// What takes a model: compile and partition.
#pragma once
#include <nanobind/nanobind.h>

namespace tenon_python {

void bind_compile(nanobind::module_& m);

}  // namespace tenon_python
