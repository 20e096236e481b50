// SPDX-License-Identifier: Apache-2.0
// The docstrings of the extension are those of its .pyi file (make_docstrings.py).
#pragma once
#include <nanobind/nanobind.h>

namespace tenon::python {

/// Sets docstrings of functions and methods when they are bound. Call before the first of them is bound.
void document_functions();
/// Sets the docstrings of the module's classes and their properties. Call after the last of them is bound.
void document_classes(nanobind::module_& m);

}  // namespace tenon::python
