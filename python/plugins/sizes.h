// SPDX-License-Identifier: Apache-2.0
// Sizes that are not known before a run, as Python functions of plugins get them.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "tenon/plugin.h"

namespace tenon::python {

namespace nb = nanobind;

struct SymbolicSize {
  const tenon_host* host;
  tenon_dim dim;
};

/// A data-dependent size, and the most that it may be.
struct DataDependentSize {
  nb::object most;
};

/// A size for Python: an int where it is known, else a SymbolicSize.
nb::object size_of(const tenon_host* host, tenon_dim dim);
/// The size from an int or a SymbolicSize. Raises TypeError.
tenon_dim dim_of(const tenon_host* host, nb::handle size);

void bind_sizes(nb::module_& m);

}  // namespace tenon::python
