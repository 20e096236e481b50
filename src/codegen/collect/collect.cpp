// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/collect.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "codegen/analysis/attention.h"
#include "codegen/analysis/combine.h"
#include "codegen/analysis/resolve_reshapes.h"
#include "codegen/collect/index_checks.h"
#include "codegen/collect/known_scalars.h"
#include "codegen/collect/role.h"
#include "codegen/collect/size_checks.h"
#include "codegen/plan/drop_unread.h"
#include "ops/attention/ragged.h"
#include "ops/core/op.h"

namespace tenon::codegen {

namespace {

using ir::NodeId;
using ir::ValueId;

class Collector {
 public:
  Collector(const ir::Graph& graph, const PlanOptions& options)
      : graph_(graph), carried_(options.carried), input_symbols_(options.outer_symbols.begin(), options.outer_symbols.end()) {
    plan_.outer_symbols = options.outer_symbols;
    plan_.sums_in_order = options.sums_in_order;
    plan_.activations = options.activations;
    plan_.segments.assign(options.segments.begin(), options.segments.end());
  }

  Result<Plan> run() {
    for (ValueId v : graph_.inputs()) {
      plan_.inputs.push_back(array_of(v));
      const ir::Type& type = graph_.value(v).type;
      if (!type.has_rank() || !type.is_tensor()) continue;
      for (Dim d : *type.shape) each_symbol(d, [&](const DimNode& s) { input_symbols_.insert(&s); });
    }
    for (const ir::ScheduleUnit& unit : TRY(ir::schedule_units(graph_, plan_.segments)))
      if (unit.segment) add_segment(*unit.segment);
      else TRY(add(unit.node));
    if (carried_) add_loop_results();
    else add_outputs();
    for (ArrayId a : plan_.inputs) plan_.arrays[a].fixed_layout = true;
    drop_unread(plan_);
    for (std::span<const ir::Assumption> list : {graph_.assumptions.all(), checks_.all()})
      plan_.assumptions.insert(plan_.assumptions.end(), list.begin(), list.end());
    return std::move(plan_);
  }

 private:
  ArrayId array_of(ValueId v) {
    if (!v) return -1;
    if (auto found = ids_.find(v); found != ids_.end()) return found->second;
    const ir::Value& value = graph_.value(v);
    Array a;
    a.dtype = value.type.dtype;
    if (value.type.is_tensor() && value.type.has_rank()) a.shape = *value.type.shape;  // sequences and optionals have no sizes
    a.strides = row_major(a.shape);
    a.value = v;
    a.constant = value.constant;
    if (const ir::State* state = graph_.state_of_input(v); state && state->growing) {
      a.growing = state->growing;
      a.strides = strides_of(a);
    }
    plan_.arrays.push_back(std::move(a));
    return ids_[v] = static_cast<ArrayId>(plan_.arrays.size() - 1);
  }

  /// The array of a graph output, which needs memory of its own: a copy where the value is a reshape, an input, a constant or returned
  /// before. Strings and values that are no tensors are not copied.
  ArrayId output(ArrayId id) {
    Array& a = plan_.arrays[id];
    const bool own = a.same_bytes < 0 && !a.constant && graph_.value(a.value).kind == ir::Value::Kind::result;
    a.fixed_layout = true;
    const bool first = returned_.insert(id).second;
    if ((own && first) || a.dtype == DType::string || !graph_.value(a.value).type.is_tensor()) return id;
    return copy(id);
  }

  /// New values of states get their arrays first: they may share the memory of the old values, and results for the caller never do.
  void add_outputs() {
    plan_.outputs.resize(graph_.outputs().size());
    for (const ir::State& s : graph_.states()) {
      const ValueId new_value = graph_.outputs()[s.output];
      plan_.outputs[s.output] = new_value == s.input ? array_of(new_value) : output(array_of(new_value));  // the state does not change
      plan_.states.push_back({.name = s.name, .input = graph_.value(s.input).index, .output = s.output});
    }
    for (uint32_t k = 0; k < graph_.outputs().size(); ++k)
      if (!graph_.state_of_output(k)) plan_.outputs[k] = output(array_of(graph_.outputs()[k]));
  }

  /// The array for steps without kernels and for reshapes, which need dense memory: a copy of a state that grows.
  ArrayId dense(ArrayId id) {
    if (id < 0 || !plan_.arrays[id].growing) return id;
    const auto [known, is_new] = dense_.try_emplace(id, -1);
    if (is_new) known->second = copy(id);
    return known->second;
  }

  /// Outputs of a loop's body: the condition and carried values, then rows of stacked results. A carried value that is also a row is
  /// computed once, and one that is its own input, unchanged, is not copied. (In the place of another carried value it must be copied:
  /// memory of carried values lasts two iterations.)
  void add_loop_results() {
    const size_t rows = 1 + *carried_;
    plan_.outputs.resize(graph_.outputs().size());
    for (size_t k = rows; k < plan_.outputs.size(); ++k) plan_.outputs[k] = output(without_reshapes(array_of(graph_.outputs()[k])));
    for (size_t k = 0; k < rows; ++k) {
      const ArrayId a = without_reshapes(array_of(graph_.outputs()[k]));
      const bool stays = a == array_of(graph_.inputs()[1 + k]);
      const bool is_row =
          k > 0 && std::find(plan_.outputs.begin() + static_cast<ptrdiff_t>(rows), plan_.outputs.end(), a) != plan_.outputs.end();
      plan_.outputs[k] = stays || is_row ? a : output(a);
    }
  }

  /// The array of which this one is a chain of reshapes to its own shape (Identity).
  ArrayId without_reshapes(ArrayId id) const {
    for (ArrayId from = plan_.arrays[id].same_bytes; from >= 0; from = plan_.arrays[id].same_bytes) {
      if (!(plan_.arrays[from].shape == plan_.arrays[id].shape) || plan_.arrays[from].dtype != plan_.arrays[id].dtype) break;
      id = from;
    }
    return id;
  }

  ArrayId copy(ArrayId from) {
    Array a = plan_.arrays[from];
    a.constant = nullptr;
    a.same_bytes = -1;
    a.growing.reset();
    a.strides = row_major(a.shape);
    a.fixed_layout = true;
    plan_.arrays.push_back(a);
    const ArrayId to = static_cast<ArrayId>(plan_.arrays.size() - 1);
    Nest nest;
    std::vector<Expr> index;
    for (size_t k = 0; k < a.shape.size(); ++k) {
      nest.axes.push_back({ops::Axis::Kind::parallel, a.shape[k]});
      index.push_back(Expr::axis(static_cast<int>(k)));
    }
    nest.accesses.push_back({from, a.dtype, index, {}, {}, {}});
    nest.outputs.push_back({to, a.dtype, Expr::input(0, a.dtype), ops::Combine::none, index, {}, {}});
    resolve_reshapes(nest.accesses[0], nest, plan_);
    push_group(GroupKind::nests, {}).nests.push_back(std::move(nest));
    return to;
  }

  Group& push_group(GroupKind kind, NodeId node) {
    Group g;
    g.set_kind(kind);
    g.node = node;
    plan_.groups.push_back(std::move(g));
    return plan_.groups.back();
  }

  Result<void> add(NodeId n) {
    const ir::Node& node = graph_.node(n);
    const NodeRole role = TRY(role_of(graph_, n));
    switch (role.kind) {
      case RoleKind::sizes: add_sizes(n, node); return {};
      case RoleKind::same_bytes: plan_.arrays[array_of(node.outputs[0])].same_bytes = dense(array_of(node.inputs[0])); return {};
      case RoleKind::loops: return add_loops(n, node, role.form);
      case RoleKind::attention: add_attention(n, node); return {};
      case RoleKind::packed_rows: add_step(GroupKind::packed_rows, n, node.inputs, node.outputs); return {};
      case RoleKind::control: add_step(GroupKind::control, n, node.inputs, node.outputs); return {};
    }
    return {};
  }

  void add_segment(const ir::Segment& segment) {
    Group& g = add_step(GroupKind::segment, segment.nodes[0], segment.operands, segment.results);
    g.as<SegmentGroup>().segment = static_cast<uint32_t>(&segment - plan_.segments.data());
  }

  /// Adds a step without a kernel, whose operands and results are row-major.
  template <class Values>
  Group& add_step(GroupKind kind, NodeId node, const Values& operands, const Values& results) {
    std::vector<ArrayId> in, out;
    for (ValueId v : operands) in.push_back(dense(array_of(v)));
    for (ValueId v : results) out.push_back(array_of(v));
    for (const auto* list : {&in, &out})
      for (ArrayId a : *list)
        if (a >= 0) plan_.arrays[a].fixed_layout = true;
    Group& group = push_group(kind, node);
    group.inputs = std::move(in);
    group.outputs = std::move(out);
    return group;
  }

  void add_sizes(NodeId n, const ir::Node& node) {
    for (ValueId v : node.outputs) {
      if (!v) continue;
      const ArrayId a = array_of(v);
      plan_.arrays[a].fixed_layout = true;
      Group& g = push_group(GroupKind::sizes, n);
      g.outputs = {a};
      for (Dim d : *graph_.value(v).data) each_symbol(d, [&](const DimNode& s) { g.as<SizesGroup>().symbols.push_back(&s); });
    }
  }

  void add_attention(NodeId n, const ir::Node& node) {
    const ir::NodeView view = graph_.view(n);
    std::vector<ArrayId> arrays;
    for (ValueId v : node.inputs) arrays.push_back(array_of(v));
    const bool ragged = ops::def_of(*node.op).kernel_family == ops::KernelFamily::ragged_attention;
    Nest nest = (ragged ? ragged_attention_nest : attention_nest)(view, arrays, array_of(node.outputs[0]));
    nest.nodes = {n};
    for (NestAccess& a : nest.accesses) resolve_reshapes(a, nest, plan_);
    std::vector<ArrayId> starts;
    if (ragged) starts = {dense(arrays[ops::kQueryStarts]), dense(arrays[ops::kKeyStarts])};
    Group& g = push_group(GroupKind::attention, n);
    g.as<AttentionGroup>().scale = attention_scale(view);
    if (ragged) {
      g.as<AttentionGroup>().longest_sequence = (*view.inputs[ops::kLongest].data)[0];
      g.inputs = starts;
      for (ArrayId a : g.inputs) plan_.arrays[a].fixed_layout = true;
    }
    g.as<AttentionGroup>().masked_rows = ops::masked_rows_of(*view.attributes).value_or(ops::MaskedRows::zero);
    g.nests.push_back(std::move(nest));
  }

  Result<void> add_loops(NodeId n, const ir::Node& node, const ops::LoopForm& form) {
    std::vector<std::vector<ArrayId>> arrays(form.loops.size());
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k] || k >= form.results.size()) continue;
      const ops::Source& s = form.results[k];
      if (arrays[s.index].size() <= size_t(s.output)) arrays[s.index].resize(s.output + 1, -1);
      arrays[s.index][s.output] = array_of(node.outputs[k]);
    }
    // Where a loop writes only parts (Concat, Scatter), the loop before it writes the rest, into the same array.
    auto next_loop_completes = [&](size_t l, size_t k) {
      if (l + 1 >= form.loops.size() || k >= form.loops[l + 1].outputs.size()) return false;
      const ops::Output& next = form.loops[l + 1].outputs[k];
      return next.partial && next.shape == form.loops[l].outputs[k].shape;
    };
    for (size_t l = form.loops.size(); l-- > 0;) {
      const auto& outputs = form.loops[l].outputs;
      arrays[l].resize(outputs.size(), -1);
      for (size_t k = 0; k < outputs.size(); ++k) {
        if (arrays[l][k] >= 0) continue;
        arrays[l][k] = next_loop_completes(l, k) ? arrays[l + 1][k] : temporary(outputs[k]);
      }
    }
    const std::string where = graph_.view(n).where();
    for (size_t l = 0; l < form.loops.size(); ++l) {
      Nest nest = nest_of(form.loops[l], arrays, l, node);
      nest.nodes = {n};
      add_size_checks(nest, plan_, graph_.assumptions, where, checks_);
      check_indices(nest, form.loops[l].index_checks, n);
      substitute_known_scalars(nest, graph_, plan_);
      for (NestAccess& a : nest.accesses) resolve_reshapes(a, nest, plan_);
      push_group(GroupKind::nests, n).nests.push_back(std::move(nest));
    }
    return {};
  }

  /// Adds checks of loaded indices (kernels clamp them, so that memory is safe, but a wrong index is an error): of an input by the input
  /// checks, of others by a step.
  void check_indices(const Nest& nest, std::span<const ops::IndexCheck> places, NodeId n) {
    for (const LoadedIndex& i : loaded_indices(nest, places, plan_)) {
      if (i.covers_array && plan_.arrays[i.array].constant && are_indices_valid(i)) continue;
      const IndexLimit limit{i.array, i.extent, i.from_end};
      const bool input = is_caller_input(i.array);
      if (i.covers_array && input && is_known_from_inputs(i.extent)) {
        plan_.index_limits.push_back(limit);
        continue;
      }
      std::string what = i.extent.text() + (i.from_end ? " from the end" : "");
      for (const Expr& e : i.load.index) what += i.covers_array ? "" : " " + e.text();
      if (!checked_.emplace(i.array, std::move(what)).second) continue;
      Nest range = index_range_nest(i, plan_);
      range.nodes = {n};
      resolve_reshapes(range.accesses[0], range, plan_);
      const std::vector<ArrayId> bounds = {range.outputs[0].array, range.outputs[1].array};
      push_group(GroupKind::nests, n).nests.push_back(std::move(range));
      Group& check = push_group(GroupKind::check, n);
      check.inputs = bounds;
      check.as<CheckGroup>().limit = limit;
    }
  }

  /// Whether the array is an input that the caller of a run passes.
  bool is_caller_input(ArrayId a) const {
    return static_cast<size_t>(a) < plan_.inputs.size() && !graph_.state_of_input(plan_.arrays[a].value);  // inputs came first
  }

  /// Whether all symbols of `extent` are sizes of inputs or of the graph around this one.
  bool is_known_from_inputs(Dim extent) const {
    bool known = true;
    each_symbol(extent, [&](const DimNode& s) { known &= input_symbols_.contains(&s); });
    return known;
  }

  /// Whether the array is a constant whose elements are all in range.
  bool are_indices_valid(const LoadedIndex& i) const {
    const Tensor* t = plan_.arrays[i.array].value ? graph_.tensor_of(plan_.arrays[i.array].value) : nullptr;
    if (!t || !i.extent.is_number()) return false;
    for (int64_t k = 0; k < t->count(); ++k)
      if (t->integer(k) >= i.extent.value() || t->integer(k) < (i.from_end ? -i.extent.value() : 0)) return false;
    return true;
  }

  ArrayId temporary(const ops::Output& o) {
    Array a;
    a.dtype = o.dtype;
    a.shape = o.shape;
    a.strides = row_major(a.shape);
    plan_.arrays.push_back(std::move(a));
    return static_cast<ArrayId>(plan_.arrays.size() - 1);
  }

  /// Replaces a reduction into the output by a load of the element, the operation, and a store.
  static void update_in_place(Nest& nest, NestOutput& o) {
    const Expr fill = is_float(o.dtype) ? Expr::constant(o.dtype, 0) : Expr::integer(o.dtype, 0);
    const Expr before = Expr::input(static_cast<int>(nest.accesses.size()), o.dtype);
    nest.accesses.push_back({o.array, o.dtype, o.index, {}, o.within, o.within ? fill : Expr()});
    o.value = binary(operator_of(o.combine), before, o.value);
    o.combine = ops::Combine::none;
  }

  Nest nest_of(const ops::Loop& loop, const std::vector<std::vector<ArrayId>>& arrays, size_t l, const ir::Node& node) {
    Nest nest;
    nest.axes = loop.axes;
    nest.exclusive = loop.exclusive;
    nest.reverse = loop.reverse;
    for (const ops::Access& a : loop.accesses) {
      const ArrayId from =
          a.source.kind == ops::Source::Kind::operand ? array_of(node.inputs[a.source.index]) : arrays[a.source.index][a.source.output];
      nest.accesses.push_back({from, a.dtype, a.index, {}, a.within, a.fill});
    }
    for (size_t k = 0; k < loop.outputs.size(); ++k) {
      const ops::Output& o = loop.outputs[k];
      std::vector<Expr> index = o.index;
      if (index.empty()) {
        for (size_t x = 0; x < loop.axes.size(); ++x)
          if (loop.axes[x].kind != ops::Axis::Kind::reduced) index.push_back(Expr::axis(static_cast<int>(x)));
      }
      nest.outputs.push_back({arrays[l][k], o.dtype, o.value, o.combine, std::move(index), {}, o.within});
      if (updates_in_order(loop, o)) update_in_place(nest, nest.outputs.back());
    }
    return nest;
  }

  const ir::Graph& graph_;
  const std::optional<size_t> carried_;  ///< see PlanOptions::carried
  Plan plan_;
  ir::Assumptions checks_;  ///< relations of sizes that loops need and inference did not assume
  std::unordered_map<ValueId, ArrayId> ids_;
  std::unordered_set<ArrayId> returned_;               ///< arrays that are outputs
  std::unordered_map<ArrayId, ArrayId> dense_;         ///< copies of states that grow
  std::set<std::pair<ArrayId, std::string>> checked_;  ///< index checks that exist: array, and text of range and column
  std::unordered_set<const DimNode*> input_symbols_;   ///< symbols that are sizes of inputs or of the graph around this one
};

}  // namespace

Result<Plan> collect(const ir::Graph& graph, const PlanOptions& options) { return Collector(graph, options).run(); }

}  // namespace tenon::codegen
