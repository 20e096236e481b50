// SPDX-License-Identifier: Apache-2.0
#include "program/bind_sizes.h"

#include <algorithm>
#include <functional>

#include "program/guards.h"

namespace tenon::program {

namespace {

using codegen::ArrayId;
using codegen::Group;
using codegen::GroupKind;

class Binder {
 public:
  Binder(const Lowered& lowered, SizeTable& sizes)
      : lowered_(lowered), graph_(*lowered.graph), plan_(lowered.kernels.plan), sizes_(sizes) {}

  std::vector<bool> bind() {
    for (const DimNode* symbol : plan_.given) sizes_.from_outside(symbol);  // first: what a body gets must be what the graph around it says
    for_each_given_size([&](Dim size, uint32_t input, uint32_t axis) {
      if (const DimNode* n = size.node(); n && n->kind == DimNode::Kind::symbol) sizes_.from_input(n, input, axis);
    });
    bind_lengths();
    bind_state_sizes();
    if (lowered_.is_segment) bind_whole_sizes();
    dynamic_.assign(plan_.arrays.size(), false);
    uint32_t step = 0;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (codegen::has_data_dependent_shape(plan_.groups[g].kind())) bind_results(plan_.groups[g], step);
      step += steps_of(g);
    }
    return std::move(dynamic_);
  }

  void want() {
    sizes_.want(0);
    sizes_.want(1);
    for (ArrayId a : plan_.inputs) want(plan_.arrays[a].shape);
    for (ArrayId a : plan_.outputs) want(plan_.arrays[a].shape);
    for (const codegen::IndexLimit& l : plan_.index_limits) sizes_.want(l.extent);
    want_guards(plan_.assumptions, sizes_);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      for (const codegen::Kernel& k : lowered_.kernels.of_groups[g]) {
        want(k.sizes);
        want({k.tasks, k.grain, k.flops});
        if (plan_.groups[g].region) want({k.units, plan_.groups[g].region->parts});
        for (ArrayId a : k.arguments) {
          want_array(a);
          sizes_.want(plan_.arrays[a].units);
        }
      }
      want_group(plan_.groups[g]);
    }
  }

 private:
  /// Sizes of inputs whose symbols nothing gives: each as a whole.
  void bind_whole_sizes() {
    for_each_given_size([&](Dim size, uint32_t input, uint32_t axis) {
      if (size.node() && !sizes_.contains(size)) sizes_.from_input(size.node(), input, axis);
    });
  }

  /// Sizes of the inputs that a caller gives, which are numbered without states.
  void for_each_given_size(const std::function<void(Dim size, uint32_t input, uint32_t axis)>& take) const {
    uint32_t input = 0;
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (codegen::state_of_input(i, plan_)) continue;
      const DimList& shape = plan_.arrays[plan_.inputs[i]].shape;
      for (uint32_t d = 0; d < shape.size(); ++d) take(shape[d], input, d);
      ++input;
    }
  }

  uint32_t steps_of(size_t group) const {
    const GroupKind kind = plan_.groups[group].kind();
    if (codegen::has_data_dependent_shape(kind) || kind == GroupKind::sizes || kind == GroupKind::check) return 1;
    return static_cast<uint32_t>(lowered_.kernels.of_groups[group].size());
  }

  void bind_lengths() {
    for (uint32_t k = 0; k < plan_.states.size(); ++k) {
      const codegen::Array& old_value = plan_.arrays[plan_.inputs[plan_.states[k].input]];
      if (!old_value.growing) continue;
      sizes_.want_length(k);
      sizes_.from_state(old_value.shape[old_value.growing->axis].node(), k);
    }
  }

  /// Free sizes that no input has: those of states, as the context has fixed them.
  void bind_state_sizes() {
    for (uint32_t k = 0; k < plan_.states.size(); ++k) {
      const DimList& shape = plan_.arrays[plan_.inputs[plan_.states[k].input]].shape;
      for (uint32_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && n->kind == DimNode::Kind::symbol) sizes_.from_state_size(n, k, d);
    }
  }

  /// Sizes that this step's results tell, and which of the results have no buffer before it has run.
  void bind_results(const Group& group, uint32_t step) {
    for (bool bare : {true, false})  // first the symbols that stand alone: the others may be made of them
      for (ArrayId a : group.outputs) {
        if (a < 0) continue;
        for (Dim d : plan_.arrays[a].shape)
          if (const DimNode* n = d.node(); n && (n->kind == DimNode::Kind::symbol) == bare && (bare || !sizes_.contains(d)))
            sizes_.from_step(n, step);
      }
    for (ArrayId a : group.outputs) {
      if (a < 0) continue;
      const codegen::Array& array = plan_.arrays[a];
      const auto is_bound = [&](Dim d) { return sizes_.depends_on_step(d, step); };
      dynamic_[a] = array.dtype == DType::string || container_info_of(plan_, graph_, a).kind != ValueKind::tensor || !has_rank(a) ||
                    std::ranges::any_of(array.shape, is_bound);
    }
  }

  bool has_rank(ArrayId a) const {
    const ir::ValueId v = plan_.arrays[a].value;
    return !v || graph_.value(v).type.has_rank();
  }

  void want(const DimList& dims) {
    for (Dim d : dims) sizes_.want(d);
  }
  void want_array(ArrayId a) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) {
      want(codegen::stored_shape(plan_.arrays[a]));
      if (plan_.arrays[a].growing) want(plan_.arrays[a].shape);
    }
  }

  void want_group(const Group& group) {
    for (const auto* list : {&group.inputs, &group.outputs})
      for (ArrayId a : *list) want_array(a);
    if (group.kind() == GroupKind::check) sizes_.want(group.as<codegen::CheckGroup>().limit.extent);
    if (group.kind() == GroupKind::sizes) want(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
    if (group.kind() == GroupKind::segment) want_blob(lowered_.blobs[group.as<codegen::SegmentGroup>().segment]);
  }

  void want_blob(const backend::Blob& blob) {
    for (const ir::ConstantRef& w : blob.weights)
      for (int64_t size : w->shape) sizes_.want(size);
    for (const std::string& name : blob.sizes) sizes_.want(symbol_named(graph_, name));
  }

  const Lowered& lowered_;
  const ir::Graph& graph_;
  const codegen::Plan& plan_;
  SizeTable& sizes_;
  std::vector<bool> dynamic_;
};

}  // namespace

std::vector<bool> bind_sizes(const Lowered& lowered, SizeTable& sizes) { return Binder(lowered, sizes).bind(); }

void want_sizes(const Lowered& lowered, SizeTable& sizes) { Binder(lowered, sizes).want(); }

Dim symbol_named(const ir::Graph& graph, std::string_view name) {
  const std::vector<Dim>& all = graph.symbols().all();
  const auto found = std::ranges::find_if(all, [&](Dim d) { return d.node()->name == name; });
  TENON_ASSERT(found != all.end());
  return *found;
}

runtime::ContainerInfo container_info_of(const ir::Type& type) {
  runtime::ContainerInfo out{.kind = type.kind, .sizes = {}, .key = type.key};
  if (type.is_tensor()) return out;
  out.unranked = !type.has_rank();
  if (type.has_rank())
    for (Dim d : *type.shape) out.sizes.push_back(d.is_number() ? d.value() : -1);
  return out;
}

runtime::ContainerInfo container_info_of(const codegen::Plan& plan, const ir::Graph& graph, ArrayId array) {
  const ir::ValueId v = plan.arrays[array].value;
  return v ? container_info_of(graph.value(v).type) : runtime::ContainerInfo();
}

}  // namespace tenon::program
