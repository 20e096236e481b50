// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <mutex>
#include <string>
#include <unordered_map>

#include "ir/graph.h"

namespace tenon::backend {

/// A graph of that node alone: its inputs are the operands that are no constants, its outputs the results.
std::unique_ptr<ir::Graph> single_node_graph(const ir::Graph& graph, ir::NodeId node);

/// The node as text: op with its ONNX version, types and attributes, "Softmax-13(f32[2,n], axis=1)".
std::string call_text(const ir::NodeView& view);

/// Whether all operands and results of the node are tensors.
bool has_only_tensors(const ir::NodeView& view);

/// Caches why a backend refuses nodes, where that is known only by trial. Safe from several threads.
class RefusalCache {
 public:
  /// Why the node of `key` is refused; empty: it is supported. Calls try_it() for the answer where the cache lacks it. Errors: those of
  /// try_it.
  template <class Try>
  Result<std::string> refusal(const std::string& key, Try try_it) const {
    {
      const std::lock_guard held(lock_);
      if (const auto known = refusals_.find(key); known != refusals_.end()) return known->second;
    }
    std::string why = TRY(try_it());
    const std::lock_guard held(lock_);
    return refusals_.emplace(key, std::move(why)).first->second;
  }

 private:
  mutable std::mutex lock_;
  mutable std::unordered_map<std::string, std::string> refusals_;
};

}  // namespace tenon::backend
