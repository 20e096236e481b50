// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::ir {

/// Callers of a root graph pass inputs and get outputs by name, so names are unique. (Bodies are called by
/// position; ports without a name, which only C++ makes, too.) Errors: bad_graph, naming the input or output.  Cost: linear.
Result<void> check_port_names(const Graph& root);
/// Whether one more output may be called `name`.  Errors: bad_graph.  Cost: the outputs.
Result<void> check_new_output(const Graph& root, std::string_view name);
/// Whether an input may be called `name`: no value has it yet.  Errors: bad_graph.  Cost: one look-up.
Result<void> check_new_input(const Graph& root, std::string_view name);

/// What all of them say; `kind` is "input" or "output".
Error port_name_taken(std::string_view kind, std::string_view name);

}  // namespace tenon::ir
