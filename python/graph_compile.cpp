// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

// After the inner headers, as in api/state.h.
#include "api/full/compile.h"
#include "graph_compile.h"

namespace tenon::python {

bool is_graph(nb::handle object) { return nb::isinstance<PyGraph>(object); }

namespace {

std::unique_ptr<ir::Graph> copy_of(nb::handle graph) {
  const auto& handle = nb::cast<const PyGraph&>(graph);
  if (handle.outer())
    raise(base::fail(base::Code::bad_usage, "graph", "only whole graphs are compiled")
              .expected("a root graph")
              .found("the body of a node")
              .advice("compile Graph.outer, or make a graph of the body's nodes"));
  return handle.get().clone();
}

}  // namespace

v1::Result<v1::Engine> compile_graph(nb::handle graph, const v1::CompileOptions& options) {
  auto own = copy_of(graph);
  const nb::gil_scoped_release released;
  return v1::compile_graph(std::move(own), options);
}

v1::Result<std::string> partition_graph(nb::handle graph, const v1::CompileOptions& options, bool build) {
  auto own = copy_of(graph);
  const nb::gil_scoped_release released;
  return v1::partition_graph(std::move(own), options, build);
}

}  // namespace tenon::python
