// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/build_on_backend.h"

#include <algorithm>

#include "compiler/build_partitioned.h"

namespace tenon::compiler {

Result<Compiled> build_on_backend(std::unique_ptr<ir::Graph> graph, const backend::Backends& backends, size_t preferred,
                                  const CompileOptions& options) {
  PartitionedGraph one;
  one.graph = std::move(graph);
  one.backends.all = backends;
  std::rotate(one.backends.all.begin(), one.backends.all.begin() + static_cast<ptrdiff_t>(preferred),
              one.backends.all.begin() + static_cast<ptrdiff_t>(preferred) + 1);
  one.backends.listed = static_cast<uint16_t>(backends.size());
  one.partition = TRY(partition::partition(*one.graph, one.backends.roles(), {}));
  StepClock clock(options);
  return build_partitioned(std::move(one), options, clock);
}

}  // namespace tenon::compiler
