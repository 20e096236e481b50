// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

namespace tenon::python {

void bind_registry(nanobind::module_& m);

}  // namespace tenon::python
