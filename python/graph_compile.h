// SPDX-License-Identifier: Apache-2.0
// Compiles graphs of tenon.rewriting: the only code that connects them with the public interface.
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

namespace tenon::python {

bool is_graph(nanobind::handle object);
/// Compiles a copy of the graph, without the GIL. Raises where it is a body, or another thread works on it.
tenon::v1::Result<tenon::v1::Engine> compile_graph(nanobind::handle graph, const tenon::v1::CompileOptions& options);

/// The same for tenon::partition.
tenon::v1::Result<std::string> partition_graph(nanobind::handle graph, const tenon::v1::CompileOptions& options, bool build);

}  // namespace tenon::python
