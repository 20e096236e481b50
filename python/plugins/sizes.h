// SPDX-License-Identifier: Apache-2.0
// Sizes that are not known before the model runs, as functions in Python are given them.
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
struct LateSize {
  nb::object most;
};

/// An int where it is known.
nb::object size_of(const tenon_host* host, tenon_dim dim);
/// Of an int or a SymbolicSize. Raises TypeError.
tenon_dim dim_of(const tenon_host* host, nb::handle size);

void bind_sizes(nb::module_& m);

}  // namespace tenon::python
