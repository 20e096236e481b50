// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

#include <algorithm>

#include "ir/dim_remapper.h"
#include "ops/infer/shape_data.h"
#include "ops/infer/types.h"

namespace tenon::ops {

namespace {

/// Values of `graph` with the types of the operands of `view`: inputs, and constants where the operand is one.
std::vector<ir::ValueId> placeholders(ir::Graph& graph, const NodeView& view) {
  std::vector<ir::ValueId> out;
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const ir::Operand& operand = view.inputs[k];
    if (!operand.present) {
      out.push_back({});
    } else if (operand.constant) {
      out.push_back(graph.add_constant(ir::constant_of(*operand.constant)));
    } else {
      out.push_back(graph.add_input("in" + std::to_string(k), operand.type));
      if (operand.data) graph.set_data(out.back(), *operand.data);
    }
  }
  return out;
}

/// The view of a node with its sizes carried over to the symbols of a temporary graph (a symbol of the same name for each), so that the
/// definition can be built there.
class CarriedView {
 public:
  CarriedView(const NodeView& view, ir::Graph& graph) : view_(view), graph_(graph), data_(view.inputs.size()) {
    const ir::DimRemapper carry(&graph.symbols());
    for (size_t k = 0; k < view_.inputs.size(); ++k) {
      ir::Operand& operand = view_.inputs[k];
      operand.type = carry(std::move(operand.type));
      if (!operand.data) continue;
      for (Dim d : *operand.data) data_[k].push_back(carry(d));
      operand.data = &data_[k];
    }
    view_.symbols = &graph.symbols();
    view_.assumptions = &graph.assumptions;
    own_symbols_ = graph.symbols().all().size();
  }
  CarriedView(const CarriedView&) = delete;

  const NodeView& view() const { return view_; }

  /// Contains a symbol that only the temporary graph has: the size must not outlive that graph.
  bool has_temporary_size(const Type& type) const {
    const auto& all = graph_.symbols().all();
    if (!type.has_rank() || all.size() == own_symbols_) return false;
    const uint32_t first = all[own_symbols_].node()->id;
    return std::ranges::any_of(*type.shape, [first](Dim d) {
      bool is_temporary = false;
      if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { is_temporary |= s.id >= first; });
      return is_temporary;
    });
  }

 private:
  NodeView view_;
  const ir::Graph& graph_;
  std::vector<ShapeData> data_;  ///< shape data that the operands of `view_` point to
  size_t own_symbols_ = 0;       ///< how many of the temporary graph's symbols are copies of the node's
};

/// Replaces sizes with temporary symbols by fresh symbols.
Type without_temporary_sizes(Type type, const CarriedView& carried, const ir::DimRemapper& back, Symbols& symbols) {
  if (!carried.has_temporary_size(type)) return back(std::move(type));
  for (Dim& size : *type.shape) size = carried.has_temporary_size(Type(DType::none, {size})) ? symbols.fresh() : back(size);
  return type;
}

/// Copies the assumptions of the plain ops to the fused op's node.
void copy_assumptions(const ir::Graph& graph, const CarriedView& carried, const ir::DimRemapper& back, const NodeView& view) {
  if (!view.assumptions) return;
  for (const ir::Assumption& a : graph.assumptions.all()) {
    if (carried.has_temporary_size(Type(DType::none, {a.a, a.b}))) continue;
    view.assumptions->add(a.kind, back(a.a), back(a.b), [&](ir::Assumption& made) {
      made.where = view.where();
      made.what = a.what;
    });
  }
}

}  // namespace

Result<void> infer_by_definition(NodeView& view) {
  const OpDef& def = def_of(*view.op);
  TENON_ASSERT(def.definition != nullptr);
  for (size_t k = 0; k < view.outputs.size(); ++k) set_output(view, k, Type(dtype_of(view, 0)));
  for (size_t k = 0; k < view.explicit_inputs; ++k)
    if (view.has(k) && view.type(k).dtype == DType::none) return {};
  ir::Graph graph(*view.ops);
  const CarriedView carried(view, graph);
  const ir::DimRemapper back(view.symbols);
  ir::Builder build(graph);
  const std::vector<ir::ValueId> results = def.definition(build, carried.view(), placeholders(graph, carried.view()));
  if (!build.status()) return std::unexpected(build.status().error());
  for (size_t k = 0; k < std::min(results.size(), view.outputs.size()); ++k)
    if (results[k]) set_output(view, k, without_temporary_sizes(graph.value(results[k]).type, carried, back, *view.symbols));
  copy_assumptions(graph, carried, back, view);
  return {};
}

}  // namespace tenon::ops
