// SPDX-License-Identifier: Apache-2.0
#include "ops/evaluate.h"

#include <cmath>

#include "ops/op.h"
#include "ops/reference_helpers.h"

namespace tenon::ops {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

/// If, Loop and Scan infer from the types of their bodies, which speak of the graph's symbols. Their references check what comes in, and
/// what a body is given is checked at its door.
bool reads_types_of_bodies(const ir::Node& node) { return node.is("If") || node.is("Loop") || node.is("Scan"); }

/// Puts what is there in the place of what the graph says: sizes, and the elements of small integer operands.
Result<void> settle_operands(NodeView& view, std::span<const Tensor* const> inputs) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    ir::Operand& operand = view.inputs[i];
    const Tensor* t = i < inputs.size() ? inputs[i] : nullptr;
    operand.data = nullptr;  // speaks of the graph's symbols
    if (operand.present != (t != nullptr))
      return refuse(view, Code::bad_input, "operand " + std::to_string(i) + " is missing, or too many");
    if (!t) continue;
    if (operand.type.dtype == DType::none) operand.type.dtype = t->dtype();
    operand.type.shape = DimList(t->shape().begin(), t->shape().end());
    const bool small = t->count() <= static_cast<int64_t>(ir::kMaxShapeData);
    if (!operand.constant && small && (is_integer(t->dtype()) || t->dtype() == DType::boolean)) operand.constant = t;
  }
  return {};
}

/// Infers the results from the operands that are there. What inference does not say stays as declared.
Result<void> settle_results(NodeView& view) {
  const std::vector<ir::Type> declared = view.outputs;
  view.outputs.assign(declared.size(), ir::Type());
  if (auto inferred = view.op->infer(view); !inferred) return std::unexpected(std::move(inferred).error().at(view.where()));
  for (size_t k = 0; k < declared.size(); ++k) {
    if (view.outputs[k].dtype == DType::none) view.outputs[k].dtype = declared[k].dtype;
    if (!view.outputs[k].has_rank()) view.outputs[k].shape = declared[k].shape;
  }
  return {};
}

/// The definition of a fused op as a graph of its own, with the sizes at hand, evaluated.
Result<std::vector<Tensor>> evaluate_definition(const OpDef& def, const NodeView& declared, std::span<const Tensor* const> inputs,
                                                Mode mode, int64_t byte_limit, int64_t* nodes_left) {
  Graph graph(table());
  NodeView view = declared;
  std::vector<ValueId> ids;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      ids.emplace_back();
      continue;
    }
    if (view.inputs[i].constant) {
      ids.push_back(graph.add_constant(ir::constant_of(*view.inputs[i].constant)));
    } else {
      ids.push_back(graph.add_input("i" + std::to_string(i), view.inputs[i].type));
      tensors.push_back(*inputs[i]);
    }
  }
  view.symbols = &graph.symbols();
  ir::Builder build(graph);
  const std::vector<ValueId> results = def.definition(build, view, ids);
  if (!build.status()) return std::unexpected(build.status().error());
  if (results.empty()) return refuse(declared, Code::not_supported, "not supported yet: this case of the op");
  for (ValueId r : results) {
    if (r) graph.add_output(r);
  }
  EvaluateOptions options;
  options.mode = mode;
  options.byte_limit = byte_limit;
  options.nodes_left = nodes_left;
  std::vector<Tensor> values = TRY(evaluate(graph, tensors, options));
  std::vector<Tensor> out(declared.outputs.size());
  size_t at = 0;
  for (size_t k = 0; k < results.size(); ++k) {
    if (!results[k]) continue;
    if (k < out.size()) out[k] = std::move(values[at]);
    ++at;
  }
  return out;
}

Result<Tensor> as_stored(const Tensor& t, DType declared, bool wide) {
  return converted(t, wide && is_float(declared) ? DType::f64 : declared);
}

/// Where `own` is not finite the wide result says the same; where only the wide one is not, own decides.
void align(Tensor& wide, const Tensor& own) {
  for (int64_t i = 0; i < wide.count(); ++i) {
    const double o = own.number(i);
    if (!std::isfinite(o) || !std::isfinite(wide.number(i))) wide.set_number(i, o);
  }
}

/// Values of one run: own, and beside it wide (only in that mode). A value is dropped after its last use.
class Run {
 public:
  Run(const Graph& graph, const EvaluateOptions& options) : graph_(graph), options_(options), wide_(options.mode == Mode::wide) {}

  Result<std::vector<Tensor>> operator()(std::span<const Tensor> inputs) {
    TRY(take_inputs(inputs));
    for (NodeId n : graph_.nodes()) TRY(step(n));
    std::vector<Tensor> out;
    for (ValueId v : graph_.outputs()) {
      TRY(need(v));
      out.push_back(wide_ ? values_[v].wide : values_[v].own);
    }
    return out;
  }

 private:
  struct Pair {
    Tensor own, wide;
    size_t uses = 0;
  };

  Result<void> take_inputs(std::span<const Tensor> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return fail(Code::bad_input, graph_.name, "wrong number of inputs")
          .expected(std::to_string(graph_.inputs().size()))
          .found(std::to_string(inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ir::Value& value = graph_.value(graph_.inputs()[i]);
      TRY(check_input(value, inputs[i]));
      const DType declared = value.type.dtype == DType::none ? inputs[i].dtype() : value.type.dtype;
      Tensor own = TRY(as_stored(inputs[i], declared, false));
      put(graph_.inputs()[i], own, TRY(as_stored(inputs[i], declared, wide_)));
    }
    return {};
  }

  Result<void> check_input(const ir::Value& value, const Tensor& t) const {
    const ir::Type& type = value.type;
    bool ok = type.dtype == DType::none || t.dtype() == type.dtype || (wide_ && is_float(type.dtype) && t.dtype() == DType::f64);
    if (type.has_rank()) {
      ok = ok && type.rank() == t.rank();
      for (int a = 0; ok && a < t.rank(); ++a) ok = type.dim(a).equals(t.shape()[static_cast<size_t>(a)]).value_or(true);
    }
    if (ok) return {};
    return fail(Code::bad_input, "input '" + value.name + "'", "dtype or shape differs")
        .expected(type.text())
        .found(type_text(t.dtype(), t.shape()));
  }

  void put(ValueId id, Tensor own, Tensor wide) {
    Pair& p = values_[id];
    p.own = std::move(own);
    if (wide_) p.wide = std::move(wide);
    p.uses = graph_.value(id).uses.size();
  }

  Result<void> need(ValueId id) {
    if (values_.contains(id)) return {};
    const ir::Value& value = graph_.value(id);
    TENON_ASSERT(value.is_constant());
    Tensor own = TRY(materialise(*value.constant));
    Tensor wide = wide_ ? TRY(as_stored(own, own.dtype(), true)) : Tensor();
    put(id, std::move(own), std::move(wide));
    return {};
  }

  Result<void> step(NodeId id) {
    const ir::Node& node = graph_.node(id);
    std::vector<const Tensor*> own, wide;
    for (ValueId v : node.inputs) {
      if (v) TRY(need(v));
    }
    for (ValueId v : node.inputs) {
      own.push_back(v ? &values_[v].own : nullptr);
      wide.push_back(v ? &values_[v].wide : nullptr);
    }
    std::vector<Tensor> out = TRY(evaluate_node(graph_, id, own, Mode::own, options_.byte_limit, options_.nodes_left));
    std::vector<Tensor> fine(out.size());
    if (wide_) fine = TRY(wide_results(id, wide, out));
    for (ValueId v : node.inputs) {
      if (v && --values_[v].uses == 0) values_.erase(v);
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k] || out[k].empty_handle()) continue;
      if (options_.on_value) options_.on_value(node.outputs[k], wide_ ? fine[k] : out[k]);
      if (!graph_.value(node.outputs[k]).uses.empty()) put(node.outputs[k], std::move(out[k]), std::move(fine[k]));
    }
    return {};
  }

  /// Integers, bools and all decisions (also sizes) are those of own.
  Result<std::vector<Tensor>> wide_results(NodeId id, const std::vector<const Tensor*>& inputs, const std::vector<Tensor>& own) {
    std::vector<Tensor> out = own;
    bool any = false;
    for (const Tensor& t : own) any |= is_float(t.dtype());
    if (!any || graph_.node(id).is("BitCast") || !graph_.node(id).op->deterministic) {
      for (Tensor& t : out) t = TRY(as_stored(t, t.dtype(), true));
      return out;
    }
    std::vector<Tensor> fine = TRY(evaluate_node(graph_, id, inputs, Mode::wide, options_.byte_limit, options_.nodes_left));
    for (size_t k = 0; k < own.size(); ++k) {
      if (!is_float(own[k].dtype())) continue;
      if (fine[k].dtype() != DType::f64 || fine[k].shape() != own[k].shape()) {
        out[k] = TRY(as_stored(own[k], own[k].dtype(), true));
        continue;
      }
      // A result may share its bytes with an operand (Identity, Reshape); it is corrected in a copy.
      Tensor copy = TRY(Tensor::make(DType::f64, fine[k].shape(), options_.byte_limit));
      store_numbers(copy, numbers_of(fine[k]));
      if (options_.keeps_range) align(copy, own[k]);
      out[k] = std::move(copy);
    }
    return out;
  }

  const Graph& graph_;
  const EvaluateOptions& options_;
  bool wide_;
  std::unordered_map<ValueId, Pair> values_;
};

bool is_as_said(const ir::Type& type, const Tensor& t, Mode mode) {
  if (t.empty_handle() || type.dtype == DType::none || (mode == Mode::wide && is_float(type.dtype))) return true;
  bool ok = t.dtype() == type.dtype && (!type.has_rank() || type.rank() == t.rank());
  for (int a = 0; ok && type.has_rank() && a < t.rank(); ++a) ok = type.dim(a).equals(t.shape()[static_cast<size_t>(a)]).value_or(true);
  return ok;
}

/// Against what inference says of these very operands (a difference is our own bug), and against what the graph says.
Result<void> check_results(const NodeView& view, const std::vector<ir::Type>& declared, const std::vector<Tensor>& out, Mode mode) {
  for (size_t k = 0; k < out.size(); ++k) {
    const bool as_inferred = is_as_said(view.outputs[k], out[k], mode);
    if (as_inferred && is_as_said(declared[k], out[k], mode)) continue;
    return refuse(view, as_inferred ? Code::shape_mismatch : Code::internal,
                  "result " + std::to_string(k) + (as_inferred ? " is not what the graph says of it" : " is not what inference promised"))
        .expected((as_inferred ? declared : view.outputs)[k].text())
        .found(type_text(out[k].dtype(), out[k].shape()));
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Graph& graph, NodeId node, std::span<const Tensor* const> inputs, Mode mode,
                                          int64_t byte_limit, int64_t* nodes_left) {
  if (nodes_left && --*nodes_left < 0) return fail(Code::limit_exceeded, graph.view(node).where(), "the run takes too many nodes");
  Symbols symbols;  // of sizes that depend on data; the operands' sizes are numbers
  NodeView view = graph.view(node);
  const std::vector<ir::Type> declared = view.outputs;
  if (!reads_types_of_bodies(graph.node(node))) {
    view.symbols = &symbols;
    TRY(settle_operands(view, inputs));
    TRY(settle_results(view));
  }
  const OpDef& def = def_of(*graph.node(node).op);
  std::vector<Tensor> out(view.outputs.size());
  if (def.reference) {
    Call call{view, inputs, out, mode == Mode::wide, byte_limit};
    auto done = def.reference(call);
    if (!done) return std::unexpected(std::move(done).error().at(view.where()));
  } else if (def.definition) {
    out = TRY(evaluate_definition(def, view, inputs, mode, byte_limit, nodes_left));
  } else {
    return refuse(view, Code::not_supported, "not supported yet: evaluation by reference");
  }
  TRY(check_results(view, declared, out, mode));
  return out;
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  return Run(graph, options)(inputs);
}

}  // namespace tenon::ops
