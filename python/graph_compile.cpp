// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

// After the inner headers, as in api/state.h.
#include "api/full/compile.h"
#include "graph_compile.h"

namespace tenon::python {

bool is_graph(nb::handle object) { return nb::isinstance<PyGraph>(object); }

v1::Result<v1::Engine> compile_graph(nb::handle graph, const v1::CompileOptions& options) {
  const auto& handle = nb::cast<const PyGraph&>(graph);
  if (handle.outer())
    raise(base::fail(base::Code::bad_usage, "graph", "only whole graphs are compiled")
              .expected("a root graph")
              .found("the body of a node")
              .advice("compile Graph.outer, or make a graph of the body's nodes"));
  auto own = handle.get().clone();
  const nb::gil_scoped_release released;
  return v1::compile_graph(std::move(own), options);
}

}  // namespace tenon::python
