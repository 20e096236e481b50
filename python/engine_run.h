// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include "engine_context.h"

namespace tenon_python {

/// Adds Engine.run, Context.run and StopToken.
void bind_run(nanobind::module_& m, nanobind::class_<tenon::Engine>& engine, nanobind::class_<PyContext>& context);

}  // namespace tenon_python
