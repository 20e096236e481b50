// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <unordered_map>

#include "compiler/compile.h"

namespace tenon::compiler {

struct KnownCosts {
  const ir::Graph* graph = nullptr;
  std::unordered_map<ir::NodeId, double> ns;
  double scale = 1;                             ///< of guesses
  double factor = 1;                            ///< on all costs of nodes
  std::optional<backend::Overheads> overheads;  ///< in place of guesses
};

/// A backend whose costs are known for the nodes of one graph; what is not known is its guess, brought to the scale of what is.
class MeasuredBackend final : public backend::Backend {
 public:
  MeasuredBackend(const backend::Backend& of, KnownCosts known) : of_(of), known_(std::move(known)) {}

  const backend::Backend& of() const { return of_; }
  std::string_view name() const override { return of_.name(); }
  std::string_view docs() const override { return of_.docs(); }
  Result<std::optional<backend::Library>> library() const override { return of_.library(); }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override { return of_.supports(graph, node); }
  Result<void> prepare(ir::Graph& graph) const override { return of_.prepare(graph); }
  bool runs_unknown_ops() const override { return of_.runs_unknown_ops(); }
  bool is_host() const override { return of_.is_host(); }
  const codegen::Target* kernel_target() const override { return of_.kernel_target(); }
  bool is_default() const override { return of_.is_default(); }
  bool runs_plugins() const override { return of_.runs_plugins(); }
  bool one_node_a_segment() const override { return of_.one_node_a_segment(); }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return of_.compile(request, options);
  }
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const auto found = &graph == known_.graph ? known_.ns.find(node) : known_.ns.end();
    return known_.factor * (found != known_.ns.end() ? found->second : known_.scale * of_.cost(graph, node));
  }
  backend::Overheads overheads() const override { return known_.overheads.value_or(of_.overheads()); }

 private:
  const backend::Backend& of_;
  KnownCosts known_;
};

/// The backends at what is known of each.
BackendsInUse at_costs(const BackendsInUse& of, std::span<const KnownCosts> known);

}  // namespace tenon::compiler
