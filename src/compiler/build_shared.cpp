// SPDX-License-Identifier: Apache-2.0
#include "compiler/build_shared.h"

#include <algorithm>
#include <utility>

#include "base/threads.h"
#include "compiler/guessed_shares.h"
#include "compiler/lower.h"
#include "partition/retype.h"

namespace tenon::compiler {

void StepClock::begin(std::string name) {
  end_step();
  if (options_.progress) options_.progress(name);
  name_ = std::move(name);
  start_ = std::chrono::steady_clock::now();
}

void StepClock::end_step() {
  if (name_.empty()) return;
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start_;
  times_.push_back({std::exchange(name_, {}), ms.count()});
}

std::vector<StepTime> StepClock::end() {
  end_step();
  return std::move(times_);
}

namespace {

void fill_report(Compiled& c) {
  CompileReport& r = c.report;
  r.nodes_after = c.graph->node_count();
  r.groups = c.plan.groups.size();
  r.kernels = c.built.kernels.size();
  r.steps = c.built.program.steps.size();
  r.weight_bytes = c.built.program.weight_bytes;
  r.code_bytes = c.code.bytes.size();
  for (const auto& of_device : c.built.ops_of_devices) ++r.ops_of_devices[of_device];
}

backend::Options backend_options(const CompileOptions& options, const codegen::Target& target) {
  backend::Options out{.planning = {}, .target = &target, .tactics = &options.tactics};
  out.planning.fuse = out.planning.channels_last = options.opt > 0;
  out.planning.off = options.off;
  out.planning.verify = options.verify;
  out.planning.dump = options.dump_plan;
  return out;
}

const ir::Graph* inside(const ir::Graph& graph, const partition::HandedBack& handed_back) {
  const ir::Graph* out = &graph;
  for (const auto& [node, body] : handed_back.inside) out = out->node(node).bodies[body].graph.get();
  return out;
}

/// Others get the nodes as they were: without Casts that only the backend needed which handed them back.
Result<partition::Shares> shared_again(SharedOut& shared, const partition::Wishes& wishes,
                                       std::vector<partition::HandedBack>& handed_back) {
  const partition::Roles roles = shared.backends.roles();
  const auto is_there = [&](ir::NodeId n) { return inside(*shared.without_casts, handed_back.back())->alive(n); };
  if (!shared.without_casts || std::ranges::none_of(handed_back.back().nodes, is_there))  // Casts alone
    return partition::partition(*shared.graph, roles, wishes, handed_back);
  for (partition::HandedBack& h : handed_back)
    std::erase_if(h.nodes, [&, graph = inside(*shared.without_casts, h)](ir::NodeId n) { return !graph->alive(n); });
  shared.graph = std::move(shared.without_casts);
  return partition::partition_with_casts(shared.graph, roles, wishes, handed_back, &shared.without_casts);
}

/// A backend that fails to compile a segment hands it back, and it is shared out again.
Result<program::Lowered> lower_shares(SharedOut& shared, const CompileOptions& options, const backend::Options& for_backends,
                                      std::vector<partition::HandedBack>& handed_back) {
  while (true) {
    partition::HandedBack failed;
    auto lowered = lower(*shared.graph, shared.shares, shared.backends.roles(), for_backends, &failed);
    if (lowered || failed.nodes.empty()) return lowered;
    handed_back.push_back(std::move(failed));
    shared.shares = TRY(shared_again(shared, options.wishes, handed_back));
  }
}

}  // namespace

Result<Compiled> build_shared(SharedOut shared, const CompileOptions& options, StepClock& clock, std::optional<Behind> behind) {
  Compiled out;
  const codegen::Target& target = options.target ? *options.target : *TRY(codegen::target_for());
  out.report.nodes_before = shared.nodes_before;
  clock.begin("plan and lower");
  program::Lowered lowered = TRY(lower_shares(shared, options, backend_options(options, target), out.handed_back));
  out.plan = lowered.kernels.plan;
  out.report.guessed_shares = guessed_shares(lowered, shared.backends.all);
  std::optional<program::Lowered> others;
  if (behind) {
    std::vector<partition::HandedBack> moved;
    others = TRY(lower_shares(behind->shared, behind->options, backend_options(behind->options, target), moved));
  }
  out.built = TRY(program::build(std::move(lowered), std::move(others)));
  clock.begin("generate");
  out.code = TRY(codegen::emit(out.built.kernels, target, options.threads > 0 ? options.threads : default_team().size()));
  out.ops = &shared.graph->ops();
  out.registry = options.registry;
  out.backends = std::move(shared.backends);
  out.graph = std::move(shared.graph);
  out.shares = std::move(shared.shares);
  fill_report(out);
  return out;
}

}  // namespace tenon::compiler
