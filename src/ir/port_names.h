// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::ir {

/// Checks that names of inputs and outputs are unique: callers of a root graph pass them by name. (Bodies, and ports without a name, which
/// only the C++ interface makes, are used by position.) Errors: bad_graph, naming the input or output.  Cost: linear.
Result<void> check_port_names(const Graph& root);
/// Checks that a new output may have the name.  Errors: bad_graph.  Cost: the outputs.
Result<void> check_new_output(const Graph& root, std::string_view name);
/// Checks that a new input may have the name: no value has it.  Errors: bad_graph.  Cost: one look-up.
Result<void> check_new_input(const Graph& root, std::string_view name);

/// The error of the functions above; `kind` is "input" or "output".
Error port_name_taken(std::string_view kind, std::string_view name);

}  // namespace tenon::ir
