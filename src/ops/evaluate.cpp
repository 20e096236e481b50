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

/// The definition of a fused op as a graph of its own, with the sizes at hand, evaluated.
Result<std::vector<Tensor>> evaluate_definition(const OpDef& def, const NodeView& declared, std::span<const Tensor* const> inputs,
                                                Mode mode, int64_t byte_limit) {
  Graph graph(table());
  NodeView view = declared;
  std::vector<ValueId> ids;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      ids.emplace_back();
      continue;
    }
    view.inputs[i].type.shape = DimList(inputs[i]->shape().begin(), inputs[i]->shape().end());
    view.inputs[i].data = nullptr;
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
    std::vector<Tensor> out = TRY(evaluate_node(graph_, id, own, Mode::own, options_.byte_limit));
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
    std::vector<Tensor> fine = TRY(evaluate_node(graph_, id, inputs, Mode::wide, options_.byte_limit));
    for (size_t k = 0; k < own.size(); ++k) {
      if (!is_float(own[k].dtype())) continue;
      if (fine[k].dtype() != DType::f64 || fine[k].shape() != own[k].shape()) {
        out[k] = TRY(as_stored(own[k], own[k].dtype(), true));
        continue;
      }
      // A result may share its bytes with an operand (Identity, Reshape); it is corrected in a copy.
      Tensor copy = TRY(Tensor::make(DType::f64, fine[k].shape(), options_.byte_limit));
      store_numbers(copy, numbers_of(fine[k]));
      align(copy, own[k]);
      out[k] = std::move(copy);
    }
    return out;
  }

  const Graph& graph_;
  const EvaluateOptions& options_;
  bool wide_;
  std::unordered_map<ValueId, Pair> values_;
};

Result<void> check_results(const NodeView& view, const std::vector<Tensor>& out, Mode mode) {
  for (size_t k = 0; k < out.size() && k < view.outputs.size(); ++k) {
    const ir::Type& type = view.outputs[k];
    if (out[k].empty_handle() || type.dtype == DType::none || (mode == Mode::wide && is_float(type.dtype))) continue;
    bool ok = out[k].dtype() == type.dtype && (!type.has_rank() || type.rank() == out[k].rank());
    for (int a = 0; ok && type.has_rank() && a < out[k].rank(); ++a) {
      ok = type.dim(a).equals(out[k].shape()[static_cast<size_t>(a)]).value_or(true);
    }
    if (!ok) {
      return refuse(view, Code::internal, "result " + std::to_string(k) + " is not what inference promised")
          .expected(type.text())
          .found(type_text(out[k].dtype(), out[k].shape()));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Graph& graph, NodeId node, std::span<const Tensor* const> inputs, Mode mode,
                                          int64_t byte_limit) {
  const NodeView view = graph.view(node);
  const OpDef& def = def_of(*graph.node(node).op);
  std::vector<Tensor> out(view.outputs.size());
  if (def.reference) {
    Call call{view, inputs, out, mode == Mode::wide, byte_limit};
    auto done = def.reference(call);
    if (!done) return std::unexpected(std::move(done).error().at(view.where()));
  } else if (def.definition) {
    out = TRY(evaluate_definition(def, view, inputs, mode, byte_limit));
  } else {
    return refuse(view, Code::not_supported, "not supported yet: evaluation by reference");
  }
  TRY(check_results(view, out, mode));
  return out;
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  return Run(graph, options)(inputs);
}

}  // namespace tenon::ops
