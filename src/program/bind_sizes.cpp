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

/// Fills a size table: bind() the origins of symbols, then request() the sizes that the program reads.
class Binder {
 public:
  Binder(const LoweredGraph& lowered, SizeTable& sizes)
      : lowered_(lowered), graph_(*lowered.graph), plan_(lowered.kernels.plan), sizes_(sizes) {}

  std::vector<bool> bind() {
    for (const DimNode* symbol : plan_.outer_symbols)
      sizes_.bind_to_outer(symbol);  // first, so that a body reads the sizes of the graph around it
    for_each_input_size([&](Dim size, uint32_t input, uint32_t axis) {
      if (const DimNode* n = size.node(); n && n->kind == DimNode::Kind::symbol) sizes_.bind_to_input(n, input, axis);
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

  void request() {
    sizes_.request(0);
    sizes_.request(1);
    for (ArrayId a : plan_.inputs) request(plan_.arrays[a].shape);
    for (ArrayId a : plan_.outputs) request(plan_.arrays[a].shape);
    for (const codegen::IndexLimit& l : plan_.index_limits) sizes_.request(l.extent);
    request_guard_sizes(plan_.assumptions, sizes_);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      for (const codegen::Kernel& k : lowered_.kernels.of_groups[g]) {
        request(k.sizes);
        request({k.tasks, k.grain, k.flops});
        if (plan_.groups[g].region) request({k.units, plan_.groups[g].region->parts});
        for (ArrayId a : k.arguments) {
          request_array(a);
          sizes_.request(plan_.arrays[a].units);
        }
      }
      request_group(plan_.groups[g]);
    }
  }

 private:
  /// Binds sizes of inputs whose symbols have no origin, as whole expressions.
  void bind_whole_sizes() {
    for_each_input_size([&](Dim size, uint32_t input, uint32_t axis) {
      if (size.node() && !sizes_.contains(size)) sizes_.bind_to_input(size.node(), input, axis);
    });
  }

  /// Calls take(size, input, axis) for each dimension of the inputs that a caller passes. Their numbers leave out states.
  void for_each_input_size(const std::function<void(Dim size, uint32_t input, uint32_t axis)>& take) const {
    uint32_t input = 0;
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (codegen::state_of_input(i, plan_)) continue;
      const DimList& shape = plan_.arrays[plan_.inputs[i]].shape;
      for (uint32_t d = 0; d < shape.size(); ++d) take(shape[d], input, d);
      ++input;
    }
  }

  /// The number of steps of the program that a group becomes.
  uint32_t steps_of(size_t group) const {
    const GroupKind kind = plan_.groups[group].kind();
    if (codegen::has_data_dependent_shape(kind) || kind == GroupKind::sizes || kind == GroupKind::check) return 1;
    return static_cast<uint32_t>(lowered_.kernels.of_groups[group].size());
  }

  /// Binds the lengths of growing states.
  void bind_lengths() {
    for (uint32_t k = 0; k < plan_.states.size(); ++k) {
      const codegen::Array& old_value = plan_.arrays[plan_.inputs[plan_.states[k].input]];
      if (!old_value.growing) continue;
      sizes_.request_length(k);
      sizes_.bind_to_state_length(old_value.shape[old_value.growing->axis].node(), k);
    }
  }

  /// Binds symbols that are sizes of states and of no input.
  void bind_state_sizes() {
    for (uint32_t k = 0; k < plan_.states.size(); ++k) {
      const DimList& shape = plan_.arrays[plan_.inputs[plan_.states[k].input]].shape;
      for (uint32_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && n->kind == DimNode::Kind::symbol) sizes_.bind_to_state_size(n, k, d);
    }
  }

  /// Binds symbols to this step where they are sizes of its results, and marks results whose memory the step allocates.
  void bind_results(const Group& group, uint32_t step) {
    for (bool is_single_symbol : {true, false})  // first dimensions that are a single symbol: other dimensions may contain it
      for (ArrayId a : group.outputs) {
        if (a < 0) continue;
        for (Dim d : plan_.arrays[a].shape)
          if (const DimNode* n = d.node();
              n && (n->kind == DimNode::Kind::symbol) == is_single_symbol && (is_single_symbol || !sizes_.contains(d)))
            sizes_.bind_to_step(n, step);
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

  void request(const DimList& dims) {
    for (Dim d : dims) sizes_.request(d);
  }
  /// Requests the sizes of the array and of those whose memory it shares.
  void request_array(ArrayId a) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) {
      request(codegen::stored_shape(plan_.arrays[a]));
      if (plan_.arrays[a].growing) request(plan_.arrays[a].shape);
    }
  }

  void request_group(const Group& group) {
    for (const auto* list : {&group.inputs, &group.outputs})
      for (ArrayId a : *list) request_array(a);
    if (group.kind() == GroupKind::check) sizes_.request(group.as<codegen::CheckGroup>().limit.extent);
    if (group.kind() == GroupKind::sizes) request(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
    if (group.kind() == GroupKind::segment) request_blob(lowered_.blobs[group.as<codegen::SegmentGroup>().segment]);
  }

  void request_blob(const backend::Blob& blob) {
    for (const ir::ConstantRef& w : blob.weights)
      for (int64_t size : w->shape) sizes_.request(size);
    for (const std::string& name : blob.sizes) sizes_.request(symbol_named(graph_, name));
  }

  const LoweredGraph& lowered_;
  const ir::Graph& graph_;
  const codegen::Plan& plan_;
  SizeTable& sizes_;
  std::vector<bool> dynamic_;  ///< by array: the step that computes it allocates its memory
};

}  // namespace

std::vector<bool> bind_sizes(const LoweredGraph& lowered, SizeTable& sizes) { return Binder(lowered, sizes).bind(); }

void request_sizes(const LoweredGraph& lowered, SizeTable& sizes) { Binder(lowered, sizes).request(); }

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
