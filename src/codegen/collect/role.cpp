// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/role.h"

#include <algorithm>
#include <unordered_set>

#include "codegen/analysis/attention.h"
#include "codegen/collect/control.h"
#include "ir/segment.h"
#include "ops/core/op.h"

namespace tenon::codegen {

namespace {

using SymbolSet = std::unordered_set<const DimNode*>;

void add_symbols(const DimList& dims, SymbolSet& to) {
  for (Dim d : dims) each_symbol(d, [&](const DimNode& s) { to.insert(&s); });
}
void add_symbols(const ir::Type& type, SymbolSet& to) {
  if (type.has_rank() && type.is_tensor()) add_symbols(*type.shape, to);
}

/// Whether shape inference of the op gives the sizes of the results from those of the operands, without the declarations of the model.
bool infers_shapes_from_sizes(ir::NodeView view) {
  const std::vector<ir::Type> declared = std::move(view.outputs);
  view.outputs.assign(declared.size(), ir::Type());
  const size_t symbols_before = view.symbols->all().size();
  if (!view.op->infer(view)) return false;
  const bool any_new = view.symbols->all().size() > symbols_before;
  const uint32_t first_new = any_new ? view.symbols->all()[symbols_before].node()->id : 0;
  SymbolSet operand_symbols;
  for (const ir::Operand& o : view.inputs) {
    add_symbols(o.type, operand_symbols);
    if (o.data) add_symbols(*o.data, operand_symbols);
  }
  for (size_t k = 0; k < declared.size(); ++k) {
    if (!declared[k].has_rank()) continue;
    if (!view.outputs[k].has_rank()) return false;
    SymbolSet inferred_symbols, declared_symbols;
    add_symbols(view.outputs[k], inferred_symbols);
    if (any_new && std::ranges::any_of(inferred_symbols, [&](const DimNode* s) { return s->id >= first_new; })) return false;
    add_symbols(declared[k], declared_symbols);
    if (std::ranges::any_of(declared_symbols,
                            [&](const DimNode* s) { return !operand_symbols.contains(s) && !inferred_symbols.contains(s); }))
      return false;
  }
  return true;
}

/// Whether kernels of the op take f8e4m3fn, which they only move and cast. Loop forms of others may compute with it.
bool takes_f8(const ops::OpDef& def, const ir::NodeView& view) {
  return def.same_bytes || def.name == "Cast" || def.name == "Concat" ||
         (def.name == "ScatterElements" && view.attributes->text("reduction", "none") == "none");
}

/// Whether ranks and dtypes of all operands and results are known, and none is a string, sequence or packed type.
bool has_kernel_types(const ops::OpDef& def, const ir::NodeView& view) {
  auto fits = [&](const ir::Type& t) {
    return t.kind == ir::Type::Kind::tensor && t.has_rank() && t.dtype != DType::string && !is_complex(t.dtype) && bits_of(t.dtype) >= 8 &&
           (!is_float(t.dtype) || is_arithmetic_float(t.dtype) || (t.dtype == DType::f8e4m3fn && takes_f8(def, view)));
  };
  return std::ranges::all_of(view.inputs, [&](const ir::Operand& o) { return !o.present || fits(o.type); }) &&
         std::ranges::all_of(view.outputs, [&](const ir::Type& t) { return t.dtype == DType::none || fits(t); });
}

/// Whether the only result of the node is its first operand. Some ops have other uses: Dropout may have a mask as second result.
bool only_moves(const ops::OpDef& def, const ir::NodeView& view) {
  for (size_t k = 1; k < view.outputs.size(); ++k)
    if (view.outputs[k].dtype != DType::none) return false;
  return !def.loop_form || def.loop_form(view);
}

/// Whether a scatter combines bools, which kernels cannot.
bool combines_bools(const ops::LoopForm& form) {
  return std::ranges::any_of(form.loops, [](const ops::Loop& loop) {
    return std::ranges::any_of(loop.outputs, [&](const ops::Output& o) { return o.dtype == DType::boolean && updates_in_order(loop, o); });
  });
}

}  // namespace

bool updates_in_order(const ops::Loop& loop, const ops::Output& output) {
  const bool parallel = std::ranges::all_of(loop.axes, [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; });
  return parallel && output.partial && output.combine != ops::Combine::none;
}

Result<NodeRole> role_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (ir::computes_sizes_only(graph, node)) return NodeRole{RoleKind::sizes, {}};
  const ops::OpDef& def = ops::def_of(*node.op);
  const ir::NodeView view = graph.view(id);
  std::string reason = "it has no loop form";
  if (def.loop_form || def.same_bytes) {
    if (!has_kernel_types(def, view)) reason = "kernels compute with tensors of known rank and elements of 8 bits or more";
    else if (!infers_shapes_from_sizes(view)) reason = "its results have a data-dependent shape";
    else if (def.same_bytes && only_moves(def, view)) return NodeRole{RoleKind::same_bytes, {}};
    else if (def.loop_form) {
      auto form = def.loop_form(view);
      if (form && !combines_bools(*form)) return NodeRole{RoleKind::loops, *std::move(form)};
      if (!form && form.error().code() != Code::not_supported) return std::unexpected(std::move(form).error());
      reason = form ? "updates of bools are combined" : form.error()->what;
    }
  }
  if (def.kernel_family == ops::KernelFamily::attention && attention_fits(view)) return NodeRole{RoleKind::attention, {}};
  if (def.kernel_family == ops::KernelFamily::ragged_attention && ragged_attention_fits(view)) return NodeRole{RoleKind::attention, {}};
  if (def.kernel_family == ops::KernelFamily::packed_rows && has_kernel_types(def, view)) return NodeRole{RoleKind::packed_rows, {}};
  if (runs_as_programs(graph, id)) return NodeRole{RoleKind::control, {}};
  return fail(Code::not_supported, view.where(), std::move(reason));
}

}  // namespace tenon::codegen
