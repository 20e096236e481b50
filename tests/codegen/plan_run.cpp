// SPDX-License-Identifier: Apache-2.0
#include "plan_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <unordered_map>

#include "../segments.h"
#include "codegen/passes/pipeline.h"
#include "codegen/prepare/prepare_operands.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::codegen {

Tactic usual_tactic(const Group& group, const Plan&, const Target& target) { return default_tactic(group, target); }

Result<PlannedGraph> planned_graph(const ir::Graph& graph, const PlanOptions& options, const Target& target, const ChooseTactic& choose) {
  const std::vector<ir::Segment> segments = tests::nodes_alone(graph);
  PlanOptions planning = options;
  planning.segments = segments;
  Plan planned = TRY(plan(graph, target, planning));
  std::vector<Tactic> tactics;
  for (const Group& group : planned.groups) tactics.push_back(choose(group, planned, target));
  PreparedPlan prepared = TRY(prepare_operands(std::move(planned), std::move(tactics), target, planning));
  PlannedGraph out{&graph, std::move(prepared.plan), {}, target};
  for (size_t g = 0; g < out.plan.groups.size(); ++g) {
    auto kernels = lower_group(out.plan.groups[g], prepared.tactics[g], out.plan, target);
    if (!kernels && kernels.error().code() == Code::bad_usage) return std::move(kernels).error();
    if (!kernels) return std::move(kernels).error().found(text_of(out.plan));
    for (const Kernel& k : *kernels) TRY(verify(k.tile));
    out.kernels_by_group.push_back(std::move(*kernels));
  }
  return out;
}

Result<std::vector<Kernel>> prepared_kernels(const Group& group, const Tactic& tactic, Plan plan, const Target& target) {
  plan.groups = {Group(group)};
  const PreparedPlan prepared = TRY(prepare_operands(std::move(plan), {tactic}, target));
  std::vector<Kernel> out;
  for (size_t g = 0; g < prepared.plan.groups.size(); ++g)
    for (Kernel& k : TRY(lower_group(prepared.plan.groups[g], prepared.tactics[g], prepared.plan, target))) out.push_back(std::move(k));
  return out;
}

namespace {

class Runner {
 public:
  Runner(const PlannedGraph& planned, bool native)
      : planned_(planned), plan_(planned.plan), native_(native), buffers_(plan_.arrays.size()) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) {
    for (size_t k = 0; k < inputs.size(); ++k) bind(plan_.arrays[plan_.inputs[k]].shape, inputs[k]);
    for (size_t k = 0; k < inputs.size(); ++k) buffers_[plan_.inputs[k]] = inputs[k];
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      for (const Kernel& k : planned_.kernels_by_group[g]) TRY(add_kernel(g, k));
      if (!is_kernel(plan_.groups[g])) TRY(run_region());
      TRY(run_step(plan_.groups[g]));
    }
    TRY(run_region());
    std::vector<Tensor> out;
    for (ArrayId a : plan_.outputs) out.push_back(TRY(buffer(a)));
    return out;
  }

  const std::vector<RegionRun>& regions() const { return regions_; }

 private:
  void bind(const DimList& shape, const Tensor& t) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d].node() && shape[d].node()->kind == DimNode::Kind::symbol) symbols_[shape[d].node()] = t.shape()[d];
  }

  int64_t number(Dim d) const {
    const Dim known = substitute(d, [&](const DimNode& s) { return Dim(symbols_.at(&s)); });
    TENON_ASSERT(known.is_number());
    return known.value();
  }

  Sizes numbers(const DimList& dims) const {
    Sizes out;
    for (Dim d : dims) out.push_back(number(d));
    return out;
  }

  /// The bytes of an array; what shares them with another array has its own shape over them.
  Result<Tensor> buffer(ArrayId a) {
    const Array& array = plan_.arrays[a];
    if (array.constant && !buffers_[a]) buffers_[a] = TRY(ir::materialise(*array.constant));
    if (!buffers_[a] && array.same_bytes >= 0) {
      Tensor owner = TRY(buffer(array.same_bytes));
      const std::byte* bytes = owner.data();
      return Tensor::view(array.dtype, numbers(array.shape), bytes, std::make_shared<Tensor>(std::move(owner)));
    }
    if (!buffers_[a]) {
      buffers_[a] = TRY(Tensor::make(array.dtype, numbers(stored_shape(array))));
      std::memset(buffers_[a]->mutable_data(), 0xff, static_cast<size_t>(buffers_[a]->byte_size()));
    }
    return *buffers_[a];
  }

  static bool is_kernel(const Group& g) {
    return g.kind() == GroupKind::nests || g.kind() == GroupKind::contract || g.kind() == GroupKind::attention;
  }

  Result<void> run_step(const Group& group) {
    if (group.kind() == GroupKind::segment) return run_segment(group);
    if (group.kind() == GroupKind::sizes) return write_sizes(group);
    return {};
  }

  static bool has_units(const Kernel& k) { return !(k.units == Dim(0)); }

  /// As a program joins them.
  Result<void> add_kernel(size_t group, const Kernel& kernel) {
    const auto& region = plan_.groups[group].region;
    const bool joined = region && region->joined && has_units(kernel) && !region_.empty() && has_units(*region_.back().second) &&
                        region_.back().first + 1 == group;
    if (!joined) TRY(run_region());
    region_.emplace_back(group, &kernel);
    return {};
  }

  /// Part by part, the later ones first.
  Result<void> run_region() {
    const int64_t parts = region_.size() < 2 ? 1 : number(plan_.groups[region_[0].first].region->parts);
    for (int64_t part = parts; part-- > 0;)
      for (const auto& [group, kernel] : region_) {
        const int64_t tasks = number(kernel->tasks), units = parts > 1 ? number(kernel->units) : tasks;
        TENON_ASSERT(tasks == 0 || tasks % units == 0);
        const int64_t of_unit = tasks == 0 ? 0 : tasks / units;
        auto done = run_tasks(*kernel, part * units / parts * of_unit, (part + 1) * units / parts * of_unit);
        if (!done) return std::move(done).error().found(text_of(kernel->tile) + text_of(plan_));
      }
    if (parts > 1) regions_.push_back({region_.size(), parts});
    region_.clear();
    return {};
  }

  Result<void> run_tasks(const Kernel& kernel, int64_t from, int64_t to) {
    std::vector<Tensor> held;
    for (ArrayId a : kernel.arguments) held.push_back(TRY(buffer(a)));
    const Sizes sizes = numbers(kernel.sizes);
    const int64_t half = (from + to) / 2;
    if (native_) {
      std::vector<void*> raw;
      for (Tensor& t : held) raw.push_back(const_cast<std::byte*>(t.data()));
      const Loaded code(TRY(emit(std::span(&kernel.tile, 1), planned_.target)));
      code.run(0, kernel.tile, raw, sizes, half, to);
      code.run(0, kernel.tile, raw, sizes, from, half);
      return {};
    }
    std::vector<BoundBuffer> bound;
    // Every buffer of a run has an element to read, however short the array is.
    alignas(64) std::byte one[64] = {};
    for (Tensor& t : held) bound.push_back({t.count() > 0 ? const_cast<std::byte*>(t.data()) : one, std::max<int64_t>(1, t.count())});
    TRY(interpret(kernel.tile, bound, sizes, half, to));
    return interpret(kernel.tile, bound, sizes, from, half);
  }

  Result<void> run_segment(const Group& group) {
    std::vector<Tensor> inputs;
    for (ArrayId a : group.inputs) inputs.push_back(TRY(buffer(a)));
    auto results = TRY(ops::evaluate(*ir::extract_segment(*planned_.graph, plan_.segments[group.as<SegmentGroup>().segment]), inputs));
    for (size_t k = 0; k < group.outputs.size(); ++k) {
      bind(plan_.arrays[group.outputs[k]].shape, results[k]);
      buffers_[group.outputs[k]] = std::move(results[k]);
    }
    return {};
  }

  Result<void> write_sizes(const Group& group) {
    Tensor to = TRY(buffer(group.outputs[0]));
    const auto& data = *planned_.graph->value(plan_.arrays[group.outputs[0]].value).data;
    for (size_t i = 0; i < data.size(); ++i) to.set_integer(static_cast<int64_t>(i), number(data[i]));
    buffers_[group.outputs[0]] = std::move(to);
    return {};
  }

  const PlannedGraph& planned_;
  const Plan& plan_;
  const bool native_;
  std::vector<std::optional<Tensor>> buffers_;
  std::unordered_map<const DimNode*, int64_t> symbols_;
  std::vector<RegionRun> regions_;
  std::vector<std::pair<size_t, const Kernel*>> region_;  ///< kernels that wait to run part by part, and their groups
};

}  // namespace

Result<std::vector<Tensor>> run(const PlannedGraph& planned, std::span<const Tensor> inputs, bool native) {
  return Runner(planned, native).run(inputs);
}

std::vector<RegionRun> regions_of(const PlannedGraph& planned, std::span<const Tensor> inputs) {
  Runner runner(planned, false);
  EXPECT_TRUE(runner.run(inputs));
  return runner.regions();
}

std::string weights(std::string_view name, const Sizes& shape) {
  const Tensor t = *ops::random_tensor(DType::f32, shape, 7);
  std::string numbers;
  for (int64_t i = 0; i < t.count(); ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", t.number(i));
  return fmt::format("const {}: f32[{}] = [{}]\n", name, fmt::join(shape, ","), numbers);
}

}  // namespace tenon::codegen
