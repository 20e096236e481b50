// SPDX-License-Identifier: Apache-2.0
// The docstrings of the extension are those of its .pyi file (make_docstrings.py).
#pragma once
#include <nanobind/nanobind.h>

namespace tenon::python {

/// Functions and methods that are bound from now on get the docstring of their name. Call before the first of them is bound.
void document_functions();
/// The classes of the module and their properties get theirs. Call after the last of them is bound.
void document_classes(nanobind::module_& m);

}  // namespace tenon::python
