// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <unordered_map>

#include "compiler/compile.h"

namespace tenon::compiler {

/// Measured costs of the nodes of one graph on one backend.
struct KnownCosts {
  const ir::Graph* graph = nullptr;
  std::unordered_map<ir::NodeId, double> node_ns;
  double guess_scale = 1;                       ///< multiplies the backend's estimate for nodes without a measured time
  double node_factor = 1;                       ///< multiplies the costs of all nodes
  std::optional<backend::Overheads> overheads;  ///< measured overheads in place of the backend's estimates
};

/// Forwards to a backend, but returns measured costs for the nodes of one graph; other nodes cost its guess times `guess_scale`.
class MeasuredBackend final : public backend::Backend {
 public:
  MeasuredBackend(const backend::Backend& wrapped, KnownCosts known) : wrapped_(wrapped), known_(std::move(known)) {}

  const backend::Backend& wrapped() const { return wrapped_; }
  std::string_view name() const override { return wrapped_.name(); }
  std::string_view docs() const override { return wrapped_.docs(); }
  Result<std::optional<backend::Library>> library() const override { return wrapped_.library(); }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override { return wrapped_.supports(graph, node); }
  Result<void> prepare(ir::Graph& graph) const override { return wrapped_.prepare(graph); }
  bool runs_unknown_ops() const override { return wrapped_.runs_unknown_ops(); }
  bool is_host() const override { return wrapped_.is_host(); }
  const codegen::Target* kernel_target() const override { return wrapped_.kernel_target(); }
  bool is_default() const override { return wrapped_.is_default(); }
  bool runs_plugins() const override { return wrapped_.runs_plugins(); }
  bool one_node_a_segment() const override { return wrapped_.one_node_a_segment(); }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return wrapped_.compile(request, options);
  }
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const auto found = &graph == known_.graph ? known_.node_ns.find(node) : known_.node_ns.end();
    return known_.node_factor * (found != known_.node_ns.end() ? found->second : known_.guess_scale * wrapped_.cost(graph, node));
  }
  backend::Overheads overheads() const override { return known_.overheads.value_or(wrapped_.overheads()); }

 private:
  const backend::Backend& wrapped_;
  KnownCosts known_;
};

/// The same backends, each with its entry of `known` as its costs.
BackendsInUse with_known_costs(const BackendsInUse& backends, std::span<const KnownCosts> known);

}  // namespace tenon::compiler
