// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/backend.h"
#include "backend/work.h"
#include "codegen/collect/role.h"
#include "codegen/passes/pipeline.h"

namespace tenon::backends {

namespace {

using codegen::Group;
using codegen::Kernel;

/// A result that is an input or a constant is copied, and kernels copy only what they can compute with: the rest passes an Identity.
Result<void> own_results(ir::Graph& graph) {
  for (uint32_t slot = 0; slot < graph.outputs().size(); ++slot) {
    const ir::ValueId v = graph.outputs()[slot];
    const ir::Value& value = graph.value(v);
    const DType d = value.type.dtype;
    const bool narrow = d == DType::string || is_complex(d) || bits_of(d) < 8 || (is_float(d) && !is_real_arithmetic(d));
    if (!narrow || value.type.kind != ir::Type::Kind::tensor) continue;
    const auto before = graph.outputs().first(slot);
    const bool own = value.kind == ir::Value::Kind::result && !value.constant && std::find(before.begin(), before.end(), v) == before.end();
    if (own) continue;
    const ir::NodeId node = graph.insert(*graph.ops().find("", "Identity"), {v}, 1);
    TRY(ir::infer(graph, node));
    graph.set_output(slot, graph.node(node).outputs[0]);
  }
  return {};
}

/// The kernels of each group of the plan, in the order in which they run. New arrays (packed and padded operands) are added to the plan.
Result<std::vector<std::vector<Kernel>>> lower(const ir::Graph& graph, codegen::Plan& plan, const backend::Options& options) {
  static const codegen::TacticBook kNoTactics;
  const codegen::TacticBook& tactics = options.tactics ? *options.tactics : kNoTactics;
  std::vector<std::vector<Kernel>> out;
  for (const Group& group : plan.groups) {
    const codegen::Tactic tactic = TRY(tactics.tactic_of(group, graph, *options.target));
    auto kernels = codegen::lower_group(group, tactic, plan, *options.target);
    if (!kernels) {
      Error e = std::move(kernels.error());
      const ir::NodeId n = group.node                                              ? group.node
                           : !group.nests.empty() && !group.nests[0].nodes.empty() ? group.nests[0].nodes[0]
                                                                                   : ir::NodeId{};
      return n ? std::move(e).at(graph.view(n).where()) : e;
    }
    out.push_back(std::move(*kernels));
  }
  return out;
}

class Cpu final : public backend::Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string_view docs() const override { return "kernels generated for this CPU, or for the one that --target names"; }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    TRY(codegen::role_of(graph, node));
    return {};
  }

  /// Some 16 multiply-adds and 10 bytes of memory a nanosecond, of a core of 2020.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }

  Result<void> prepare(ir::Graph& graph) const override { return own_results(graph); }
  bool makes_kernels() const override { return true; }
  bool is_default() const override { return true; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    codegen::PlanOptions planning = options.planning;
    planning.segments = request.segments;
    backend::Kernels out;
    out.plan = TRY(codegen::plan(request.graph, *options.target, planning));
    out.of_groups = TRY(lower(request.graph, out.plan, options));
    return out;
  }
};

}  // namespace

BACKEND(cpu) { return std::make_unique<Cpu>(); }

}  // namespace tenon::backends
