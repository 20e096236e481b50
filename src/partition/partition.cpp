// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::partition {

namespace {

using backend::Backend;
using backend::Backends;

Result<const Backend*> backend_of(const ir::Graph& graph, ir::NodeId node, const Backends& backends) {
  std::string reasons;
  for (const Backend* b : backends) {
    const auto supported = b->supports(graph, node);
    if (supported) return b;
    if (supported.error().code() != Code::not_supported) return std::unexpected(supported.error());
    reasons.append(reasons.empty() ? "" : "; ").append(b->name()).append(": ").append(supported.error()->what);
  }
  const ir::NodeView view = graph.view(node);
  return fail(Code::not_supported, view.where(), "not supported yet: no backend runs " + view.op->name).found(reasons);
}

/// Nodes become ready as what they depend on is done. Whatever is ready and needs no segment is done first; then all that is ready of one
/// other backend makes a segment, and what that makes ready joins it.
class Waves {
 public:
  Waves(const ir::Graph& graph, std::unordered_map<ir::NodeId, size_t> assigned, const Backends& backends)
      : graph_(graph), dependencies_(graph), assigned_(std::move(assigned)), backends_(backends), ready_(backends.size()) {}

  std::vector<ir::Segment> run() {
    count();
    while (true) {
      for (size_t b = 0; b < ready_.size(); ++b)
        if (backends_[b]->makes_kernels()) drain(b);
      const auto next = std::ranges::find_if(ready_, [](const auto& list) { return !list.empty(); });
      if (next == ready_.end()) return std::move(segments_);
      const auto b = static_cast<size_t>(next - ready_.begin());
      std::vector<ir::NodeId> nodes = drain(b);
      std::ranges::sort(nodes, [&](ir::NodeId x, ir::NodeId y) { return graph_.is_before(x, y); });
      segments_.push_back(ir::segment_of(graph_, dependencies_, std::string(backends_[b]->name()), std::move(nodes)));
    }
  }

 private:
  void count() {
    for (ir::NodeId n : graph_.nodes()) {
      size_t& waits = waits_[n];
      dependencies_.each(n, [&](ir::NodeId needed) {
        ++waits;
        waiting_[needed].push_back(n);
      });
      if (waits == 0) ready_[assigned_.at(n)].push_back(n);
    }
  }

  /// Does all that is ready of that backend, and what becomes so by it.
  std::vector<ir::NodeId> drain(size_t backend) {
    std::vector<ir::NodeId> done;
    for (; !ready_[backend].empty();) {
      done.push_back(ready_[backend].back());
      ready_[backend].pop_back();
      for (ir::NodeId n : waiting_[done.back()])
        if (--waits_[n] == 0) ready_[assigned_.at(n)].push_back(n);
    }
    return done;
  }

  const ir::Graph& graph_;
  ir::Dependencies dependencies_;
  std::unordered_map<ir::NodeId, size_t> assigned_;
  const Backends& backends_;
  std::vector<std::vector<ir::NodeId>> ready_;  ///< by backend
  std::unordered_map<ir::NodeId, size_t> waits_;
  std::unordered_map<ir::NodeId, std::vector<ir::NodeId>> waiting_;
  std::vector<ir::Segment> segments_;
};

}  // namespace

Result<std::vector<ir::Segment>> partition(const ir::Graph& graph, const Backends& backends) {
  std::unordered_map<ir::NodeId, size_t> assigned;
  bool any = false;
  for (ir::NodeId n : graph.nodes()) {
    const Backend* const b = TRY(backend_of(graph, n, backends));
    any |= !b->makes_kernels();
    assigned.emplace(n, static_cast<size_t>(std::ranges::find(backends, b) - backends.begin()));
  }
  if (!any) return std::vector<ir::Segment>{};
  return Waves(graph, std::move(assigned), backends).run();
}

}  // namespace tenon::partition
