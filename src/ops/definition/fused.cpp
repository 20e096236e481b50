// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/fused.h"

#include <algorithm>
#include <limits>

namespace tenon::ops {

namespace {

/// The operands of `view` as inputs of `graph`, constants as such.
std::vector<ir::ValueId> stand_ins(ir::Graph& graph, const NodeView& view) {
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

/// Sizes that only the graph built aside knows must not outlive it.
bool stays_aside(const ir::Graph& graph, const Type& type) {
  auto is_aside = [&](Dim d) {
    bool aside = false;
    if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { aside |= s.symbols == &graph.symbols(); });
    return aside;
  };
  return type.has_rank() && std::ranges::any_of(*type.shape, is_aside);
}

/// What the plain ops assume is what the fused one does.
void pass_assumptions_on(const ir::Graph& graph, const NodeView& view) {
  if (!view.assumptions) return;
  for (const ir::Assumption& a : graph.assumptions.all()) {
    if (stays_aside(graph, Type(DType::none, {a.a, a.b}))) continue;
    view.assumptions->add(a.kind, a.a, a.b, [&](ir::Assumption& made) {
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
  ir::Builder build(graph);
  const std::vector<ir::ValueId> results = def.definition(build, view, stand_ins(graph, view));
  if (!build.status()) return std::unexpected(build.status().error());
  for (size_t k = 0; k < std::min(results.size(), view.outputs.size()); ++k)
    if (results[k] && !stays_aside(graph, graph.value(results[k]).type)) set_output(view, k, graph.value(results[k]).type);
  pass_assumptions_on(graph, view);
  return {};
}

Result<void> infer_biased(NodeView& view) {
  TRY(require_dtype(view, 0, is_real_arithmetic, "a float type"));
  if (view.has(1)) {
    TRY(require_same_dtype(view, 0, 1));
    TRY(require_rank(view, 1, 1));
    TRY(require_rank(view, 0, 1, -1));
    if (ranks_known(view, {0, 1})) TRY(require_equal(view, view.type(0).dim(-1), view.type(1).dim(0), "columns and numbers of the bias"));
  }
  return same_shape_and_dtype(view);
}

Result<void> infer_skip_norm(NodeView& view) {
  TRY(require_dtype(view, 0, is_real_arithmetic, "a float type"));
  for (size_t k = 1; k < view.explicit_inputs; ++k)
    if (view.has(k)) TRY(require_same_dtype(view, 0, k));
  Type sum(dtype_of(view, 0)), row(DType::f32);
  if (ranks_known(view, {0, 1})) {
    sum.shape = TRY(broadcast(view, *view.type(0).shape, *view.type(1).shape));
    if (sum.shape->empty()) return refuse(view, Code::rank_mismatch, "a norm needs an axis").found(view.type(0).text());
    for (size_t k = 2; k < view.explicit_inputs; ++k) {
      TRY(require_rank(view, k, 1));
      if (view.has(k) && view.type(k).has_rank())
        TRY(require_equal(view, sum.shape->back(), view.type(k).dim(0), "columns and numbers of a row"));
    }
    row.shape = sum.shape;
    row.shape->back() = 1;
  }
  set_output(view, 0, sum);
  set_output(view, 1, row);
  set_output(view, 2, row);
  set_output(view, 3, std::move(sum));
  return {};
}

std::optional<ir::ValueId> activated(ir::Builder& build, ir::ValueId x, DType dtype, const std::string& name,
                                     std::span<const float> parameters) {
  const auto parameter = [&](size_t k, float otherwise) { return k < parameters.size() ? parameters[k] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid") return build(name, {x});
  if (name == "LeakyRelu") return build(name, {x}, {{"alpha", parameter(0, 0.01f)}});
  if (name == "HardSigmoid") return build(name, {x}, {{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}});
  if (name != "Clip") return std::nullopt;
  return build(name, {x, build.scalar(dtype, parameter(0, std::numeric_limits<float>::lowest())),
                      build.scalar(dtype, parameter(1, std::numeric_limits<float>::max()))});
}

ir::ValueId scaled(ir::Builder& build, ir::ValueId x, DType dtype, double factor) {
  return factor == 1 ? x : build("Mul", {x, build.scalar(dtype, factor)});
}

ir::ValueId padding_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, DType dtype, double filter) {
  const ir::ValueId seen = build("Greater", {mask, build.scalar(view.type(k).dtype, 0)});
  const ir::ValueId score = build("Where", {seen, build.scalar(dtype, 0), build.scalar(dtype, filter)});
  return build("Unsqueeze", {score, build.ints(view.rank(k) == 2 ? Ints{1, 2} : Ints{1})});
}

ir::ValueId heads_apart(ir::Builder& build, ir::ValueId x, int64_t heads) {
  return build("Transpose", {build("Reshape", {x, build.ints({0, 0, heads, -1})})}, {{"perm", Ints{0, 2, 1, 3}}});
}

ir::ValueId heads_together(ir::Builder& build, ir::ValueId x) {
  return build("Reshape", {build("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}}), build.ints({0, 0, -1})});
}

}  // namespace tenon::ops
