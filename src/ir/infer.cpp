// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ir/graph.h"

namespace tenon::ir {
namespace {

std::string range_text(int low, int high) {
  if (high < 0) return fmt::format("at least {}", low);
  return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
}

Result<void> check_count(const Graph& graph, NodeId id, const char* what, size_t count, int low, int high) {
  if (count >= static_cast<size_t>(low) && (high < 0 || count <= static_cast<size_t>(high))) return {};
  return fail(Code::bad_graph, graph.view(id).where(), fmt::format("wrong number of {}", what))
      .expected(range_text(low, high))
      .found(fmt::format("{}", count));
}

/// Whether the dim has a symbol that was created at or after creation number `since`.
bool is_fresh(Dim d, size_t since, const Symbols& symbols) {
  if (d.is_number() || symbols.all().size() == since) return false;
  uint32_t first_id = symbols.all()[since].node()->id;
  bool fresh = false;
  each_symbol(d, [&](const DimNode& s) { fresh |= s.id >= first_id; });
  return fresh;
}

/// The more specific of both: a number before a polynomial, the inferred polynomial before the declared one, but a declared one
/// before a data-dependent size that inference has just created.
Dim merge(Dim inferred, Dim declared, size_t symbols_before, const Symbols& symbols) {
  if (inferred.is_overflow()) return declared;
  if (inferred.is_number() || declared.is_overflow()) return inferred;
  if (declared.is_number()) return declared;
  return is_fresh(inferred, symbols_before, symbols) ? declared : inferred;
}

void assume_equal(Dim computed, Dim declared, size_t symbols_before, const NodeView& view) {
  if (computed == declared || computed.is_overflow() || is_fresh(computed, symbols_before, *view.symbols)) return;
  view.assumptions->add(Assumption::Kind::equal, computed, declared, [&](Assumption& a) {
    a.where = view.where();
    a.what = "the size is another than the model declares";
  });
}

Type merge(Type inferred, const Type& declared, size_t symbols_before, const NodeView& view) {
  if (inferred.dtype == DType::none && inferred.kind == Type::Kind::tensor) {
    inferred.dtype = declared.dtype;
    inferred.kind = declared.kind;
  }
  if (inferred.kind != declared.kind || !declared.shape) return inferred;
  if (!inferred.shape) {
    inferred.shape = declared.shape;
  } else if (inferred.rank() == declared.rank()) {
    for (size_t i = 0; i < inferred.shape->size(); ++i) {
      Dim& d = (*inferred.shape)[i];
      const Dim computed = d;
      d = merge(d, (*declared.shape)[i], symbols_before, *view.symbols);
      // Sizes of elements of sequences and maps are not in the size table: a run checks them.
      if (inferred.is_tensor()) assume_equal(computed, d, symbols_before, view);
    }
  }
  return inferred;
}

/// Resets inferred types in a body and its nested bodies: the types of their inputs have changed.
void forget_results(Graph& graph) {
  for (NodeId n : graph.nodes()) {
    for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) forget_results(graph.body(n, b));
    if (graph.node(n).op->unknown) continue;  // inference cannot restore its types
    for (ValueId v : graph.node(n).outputs) {
      if (!v) continue;
      graph.set_type(v, Type());
      graph.set_data(v, std::nullopt);
    }
  }
}

/// Types of a body's captured inputs follow the outer values; of its formal ones, the op.
/// Returns whether the type of an input has changed.
bool type_inputs(Graph& graph, NodeId id, size_t index, const std::vector<Type>& formal) {
  const Node& node = graph.node(id);
  const Body& body = node.bodies[index];
  Graph& inner = *body.graph;
  std::vector<ValueId> inputs(inner.inputs().begin(), inner.inputs().end());
  size_t formal_count = inputs.size() - body.captures;
  bool changed = false;
  auto set = [&](ValueId input, const Type& type) {
    changed |= !(inner.value(input).type == type);
    inner.set_type(input, type);
  };
  for (size_t k = 0; k < formal_count && k < formal.size(); ++k) {
    if (formal[k].dtype != DType::none || !formal[k].is_tensor()) set(inputs[k], formal[k]);
  }
  for (uint32_t c = 0; c < body.captures; ++c) {
    const Value& outer = graph.value(node.inputs[body.first_capture + c]);
    set(inputs[formal_count + c], outer.type);
    inner.set_data(inputs[formal_count + c], outer.data);
  }
  return changed;
}

Result<void> infer_body(Graph& graph, NodeId id, size_t index) {
  Graph& inner = graph.body(id, index);
  constexpr int kRounds = 4;  // loop-carried shapes widen once or twice; then they are symbols and do not change
  for (int round = 0; round < kRounds; ++round) {
    NodeView view = graph.view(id);
    bool changed = type_inputs(graph, id, index, view.op->body_input_types(view, index));
    if (round > 0 && !changed) return {};
    if (round > 0) forget_results(inner);
    TRY(infer_all(inner));
  }
  return {};
}

/// An integer tensor without elements has known (empty) shape data.
bool holds_nothing(const Type& type) { return type.is_tensor() && is_integer(type.dtype) && type.is_static() && type.count() == Dim(0); }

/// Checks sizes that are computed from data (a shape, a number of repeats), which may be negative.
Result<void> check_sizes(const NodeView& view, const Type& type) {
  if (!type.has_rank() || !type.is_tensor()) return {};
  for (Dim d : *type.shape) {
    if (d.is_overflow() || d.lower() >= 0) continue;
    if (d.upper() < 0)
      return fail(Code::shape_mismatch, view.where(), "a size of its result is negative").expected("0 or more").found(d.text());
    view.assumptions->add(Assumption::Kind::at_least, d, 0, [&](Assumption& a) {
      a.where = view.where();
      a.what = "a size of its result is negative";
    });
  }
  return {};
}

void store(Graph& graph, NodeId id, NodeView& view, size_t symbols_before) {
  // The ids are copied: set_type notifies listeners, which may read the node.
  std::vector<ValueId> outputs = graph.node(id).outputs;
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!outputs[k]) continue;
    graph.set_type(outputs[k], merge(std::move(view.outputs[k]), graph.value(outputs[k]).type, symbols_before, view));
    std::optional<ShapeData> data;
    if (k < view.output_data.size() && view.output_data[k].size() <= kMaxShapeData && !view.output_data[k].empty()) {
      data = std::move(view.output_data[k]);
    } else if (holds_nothing(graph.value(outputs[k]).type)) {
      data = ShapeData{};
    }
    graph.set_data(outputs[k], std::move(data));
  }
}

}  // namespace

Result<void> infer(Graph& graph, NodeId id) {
  const Op& op = *graph.node(id).op;
  TRY(check_count(graph, id, "operands", graph.node(id).explicit_inputs, op.min_inputs, op.max_inputs));
  TRY(check_count(graph, id, "results", graph.node(id).outputs.size(), op.min_outputs, op.max_outputs));
  for (size_t b = 0; b < graph.node(id).bodies.size(); ++b) TRY(infer_body(graph, id, b));
  NodeView view = graph.view(id);
  size_t results = view.outputs.size();
  view.outputs.assign(results, Type());
  view.assumptions = &graph.assumptions;
  size_t symbols_before = graph.symbols().all().size();
  if (Result<void> inferred = view.op->infer(view); !inferred) return std::unexpected(std::move(inferred.error()).at(view.where()));
  TENON_ASSERT(view.outputs.size() >= results);
  for (const Type& type : view.outputs) TRY(check_sizes(view, type));
  store(graph, id, view, symbols_before);
  return {};
}

Result<void> infer_all(Graph& graph) {
  for (NodeId id : graph.nodes()) TRY(infer(graph, id));
  return {};
}

}  // namespace tenon::ir
