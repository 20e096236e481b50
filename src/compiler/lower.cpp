// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower.h"

#include <unordered_set>

#include "backends/cpu/cpu.h"

namespace tenon::compiler {

namespace {

/// Symbols of sizes, each once, in the order in which they come up.
class Known {
 public:
  explicit Known(std::vector<const DimNode*> given) : list_(std::move(given)), seen_(list_.begin(), list_.end()) {}
  void add(const ir::Type& type) {
    if (!type.has_rank()) return;
    for (Dim d : *type.shape)
      each_symbol(d, [&](const DimNode& s) {
        if (seen_.insert(&s).second) list_.push_back(&s);
      });
  }
  const std::vector<const DimNode*>& list() const { return list_; }

 private:
  std::vector<const DimNode*> list_;
  std::unordered_set<const DimNode*> seen_;
};

}  // namespace

Result<program::Lowered> lower(const ir::Graph& graph, const codegen::PlanOptions& options, const codegen::Target& target,
                               const codegen::TacticBook& tactics) {
  program::Lowered out;
  out.graph = &graph;
  out.plan = TRY(codegen::plan(graph, options));
  out.kernels = TRY(backends::cpu::lower(graph, out.plan, target, tactics));
  std::unordered_set<ir::NodeId> controls;
  for (const codegen::Group& g : out.plan.groups)
    if (g.kind == codegen::GroupKind::control) controls.insert(g.node);
  if (controls.empty()) return out;
  Known known(options.given);
  for (ir::ValueId v : graph.inputs()) known.add(graph.value(v).type);
  for (ir::NodeId n : graph.nodes()) {
    if (controls.contains(n)) {
      codegen::PlanOptions inside = options;
      inside.given = known.list();
      for (const ir::Body& b : graph.node(n).bodies) out.bodies[n].push_back(TRY(lower(*b.graph, inside, target, tactics)));
    }
    for (ir::ValueId v : graph.node(n).outputs)
      if (v) known.add(graph.value(v).type);
  }
  return out;
}

}  // namespace tenon::compiler
