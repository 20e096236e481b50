// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <mutex>
#include <string>
#include <unordered_map>

#include "ir/graph.h"

namespace tenon::backend {

/// The node as a graph of its own: inputs are its operands but constants, outputs its results.
std::unique_ptr<ir::Graph> alone(const ir::Graph& graph, ir::NodeId node);

/// A query to a backend, as text: "Softmax-13(f32[2,n], axis=1)", the version as ONNX counts it.
std::string call_text(const ir::NodeView& view);

/// All of its operands and results are tensors.
bool has_tensors_alone(const ir::NodeView& view);

/// Why something is refused, found by trying, once. Safe from several threads.
class Trials {
 public:
  /// The answer of try_it() for the node of `key`: empty where it is supported. Errors: those of try_it.
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
