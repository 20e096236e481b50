// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

namespace tenon_python {

/// Reads the keyword arguments of a function into the options of their names in the table (tenon/compile_options.h); others keep their
/// values. saving: also those that concern the written file.
/// Errors: TypeError for a keyword that the table lacks and for a value of another type; bad_usage for a name that an option does not have.
void read_options(const char* function, const nanobind::kwargs& given, bool saving, tenon::CompileOptions& out);

}  // namespace tenon_python
