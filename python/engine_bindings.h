// SPDX-License-Identifier: Apache-2.0
// Bindings for loading and running engines. Uses the public interface alone, and so is in tenon and in tenon_runtime.
#pragma once
#include <nanobind/nanobind.h>

namespace tenon_python {

/// Port, ThreadPool, Engine and load.
void bind_engine(nanobind::module_& m);

}  // namespace tenon_python
