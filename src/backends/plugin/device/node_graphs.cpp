// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin/device/node_graphs.h"

namespace tenon::backends {

Result<std::unique_ptr<NodeGraphs>> NodeGraphs::make(const plugin::Saved& saved, const runtime::BlobView& blob) {
  if (saved.graphs != blob.graphs.size() || (saved.graphs > 0 && !blob.engine))
    return fail(Code::bad_file, saved.node, "the engine does not hold the inner graphs of the plugin")
        .expected(std::to_string(saved.graphs))
        .found(std::to_string(blob.graphs.size()))
        .advice("build the engine again");
  if (blob.graphs.empty()) return std::unique_ptr<NodeGraphs>();
  auto out = std::make_unique<NodeGraphs>();
  out->graphs_.reserve(blob.graphs.size());
  for (uint32_t number : blob.graphs) out->graphs_.emplace_back(*blob.engine, number);
  return out;
}

/// Steps of an inner graph are none of the engine's: no callback reports them, nor what they copy.
void NodeGraphs::begin(const runtime::RunOptions& options, int threads) {
  options_.threads = threads;
  options_.thread_pool = options.thread_pool;
  options_.token = options.token;
  options_.deadline = options.deadline;
  options_.check_memory = options.check_memory;
}

}  // namespace tenon::backends
