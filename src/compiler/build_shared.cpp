// SPDX-License-Identifier: Apache-2.0
#include "compiler/build_shared.h"

#include <utility>

#include "base/threads/thread_pool.h"
#include "compiler/check_segments.h"
#include "compiler/guessed_shares.h"
#include "compiler/inner_graphs.h"
#include "compiler/lower_shares.h"

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

Result<std::optional<program::Lowered>> lower_beside(std::optional<Beside>& beside, const codegen::Target& target) {
  if (!beside) return std::nullopt;
  std::vector<partition::HandedBack> moved;
  return TRY(lower_shares(beside->shared, beside->options, target, moved));
}

}  // namespace

Result<Compiled> build_shared(PartitionedGraph shared, const CompileOptions& options, StepClock& clock, Others others) {
  Compiled out;
  const codegen::Target& target = options.target ? *options.target : *TRY(codegen::target_for());
  out.report.nodes_before = shared.nodes_before;
  clock.begin("plan and lower");
  program::Lowered lowered = TRY(lower_shares(shared, options, target, out.handed_back));
  out.plan = lowered.kernels.plan;
  out.report.guessed_shares = guessed_shares(lowered, shared.backends.all);
  program::Others beside{.behind = TRY(lower_beside(others.behind, target)),
                         .instead = TRY(lower_beside(others.instead, target)),
                         .overridable = TRY(lower_beside(others.overridable, target))};
  InnerGraphs inner(options, shared.backends, shared.graph->ops(), target);
  TRY(inner.lower_of(lowered));
  for (auto* other : {&beside.behind, &beside.overridable})
    if (*other) TRY(inner.lower_of(**other));
  beside.inner = inner.take();
  out.built = TRY(program::build(std::move(lowered), std::move(beside)));
  TRY(check_segments(out.built, (options.registry ? *options.registry : usual_registry()).devices(shared.graph->ops())));
  clock.begin("generate");
  const codegen::Target& least = codegen::least_target(out.built.kernels, target);
  out.code = TRY(codegen::emit(out.built.kernels, least, options.threads > 0 ? options.threads : default_thread_pool().size()));
  out.ops = &shared.graph->ops();
  out.registry = options.registry;
  out.backends = std::move(shared.backends);
  out.graph = std::move(shared.graph);
  if (others.behind) out.unbounded = std::move(others.behind->shared.graph);
  if (others.instead) out.instead = std::move(others.instead->shared.graph);
  if (others.overridable) out.overridable = std::move(others.overridable->shared.graph);
  out.partition = std::move(shared.partition);
  fill_report(out);
  return out;
}

}  // namespace tenon::compiler
