// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

namespace tenon_python {

/// Adds Engine.run and StopToken.
void bind_run(nanobind::module_& m, nanobind::class_<tenon::Engine>& engine);

}  // namespace tenon_python
