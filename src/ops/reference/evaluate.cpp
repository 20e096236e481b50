// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ops/core/op.h"
#include "ops/core/random_streams.h"
#include "ops/core/refuse.h"
#include "ops/infer/value_types.h"
#include "ops/reference/elements.h"

namespace tenon::ops {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

/// Replaces the declared sizes of operands by those of `inputs`, and makes small integer operands constants.
Result<void> use_real_operand_types(NodeView& view, std::span<const Tensor* const> inputs) {
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    ir::Operand& operand = view.inputs[i];
    const Tensor* t = i < inputs.size() ? inputs[i] : nullptr;
    operand.data = nullptr;  // contains symbols of the graph
    if (operand.present != (t != nullptr))
      return refuse(view, Code::bad_input, "operand " + std::to_string(i) + " is missing, or given where the node has none");
    if (!t) continue;
    if (t->holds_tensors()) {
      operand.type = TRY(type_of(view, operand.type, *t));
      continue;
    }
    if (operand.type.dtype == DType::none) operand.type.dtype = t->dtype();
    operand.type.kind = ValueKind::tensor;
    operand.type.shape = DimList(t->shape().begin(), t->shape().end());
    const bool small = t->count() <= static_cast<int64_t>(ir::kMaxShapeData);
    if (!operand.constant && small && (is_integer(t->dtype()) || t->dtype() == DType::boolean)) operand.constant = t;
  }
  return {};
}

/// Infers the results from the operands' real types. What inference leaves open stays as declared.
Result<void> infer_results(NodeView& view) {
  const std::vector<ir::Type> declared = view.outputs;
  view.outputs.assign(declared.size(), ir::Type());
  if (auto inferred = view.op->infer(view); !inferred) return std::unexpected(std::move(inferred).error().at(view.where()));
  for (size_t k = 0; k < declared.size(); ++k) {
    if (view.outputs[k].is_tensor() && view.outputs[k].dtype == DType::none) view.outputs[k].kind = declared[k].kind;
    if (view.outputs[k].dtype == DType::none) view.outputs[k].dtype = declared[k].dtype;
    if (!view.outputs[k].has_rank()) view.outputs[k].shape = declared[k].shape;
  }
  return {};
}

/// Builds the definition of a fused op as a graph, for operands of these sizes, and evaluates it.
Result<std::vector<Tensor>> evaluate_definition(const OpDef& def, const NodeView& declared, std::span<const Tensor* const> inputs,
                                                Mode mode, int64_t byte_limit, int64_t* nodes_left, const RandomScope& random) {
  Graph graph(*declared.ops);
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
  options.random = random;
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

/// Each tensor in `value` converted to the dtype that it is stored in. declared: their dtype; none: the one that they have.
Result<Tensor> as_stored(const Tensor& value, DType declared, bool wide) {
  return with_each_tensor(value, [&](const Tensor& t) {
    const DType dtype = is_float(declared) && is_float(t.dtype()) ? declared : t.dtype();  // other dtypes are as declared already
    return converted(t, wide && is_float(dtype) ? DType::f64 : dtype);
  });
}

bool holds_floats(const Tensor& value) {
  bool any = false;
  each_tensor(value, [&](const Tensor& t) { any = any || is_float(t.dtype()); });
  return any;
}

/// Copies the elements of `rounded` for which it or `wide` is not finite.
void copy_non_finite(Tensor& wide, const Tensor& rounded) {
  for (int64_t i = 0; i < wide.count(); ++i) {
    const double o = rounded.number(i);
    if (!std::isfinite(o) || !std::isfinite(wide.number(i))) wide.set_number(i, o);
  }
}

/// Changes each f32 element that is no whole number by up to 16 units in the last place.
Result<Tensor> perturbed(const Tensor& t) {
  if (t.dtype() != DType::f32) return t;
  Tensor out = TRY(Tensor::make(DType::f32, t.shape()));
  const std::span<float> to = out.as_mutable<float>();
  std::ranges::copy(t.as<float>(), to.begin());
  std::minstd_rand random(static_cast<uint32_t>(t.count()) + 1);
  for (float& x : to) {
    const float units = static_cast<float>(random() % 33) - 16;
    if (std::isfinite(x) && x != std::trunc(x)) x += x * units * std::numeric_limits<float>::epsilon();
  }
  return out;
}

/// One run of a graph. In Mode::wide it computes each value twice: rounded to its declared dtype, and in fp64. A value is dropped after its
/// last use.
class Run {
 public:
  Run(const Graph& graph, const EvaluateOptions& options) : graph_(graph), options_(options), wide_(options.mode == Mode::wide) {}

  Result<std::vector<Tensor>> operator()(std::span<const Tensor> inputs) {
    TRY(take_inputs(inputs));
    for (NodeId n : graph_.nodes()) TRY(step(n));
    std::vector<Tensor> out;
    for (ValueId v : graph_.outputs()) {
      TRY(materialise_constant(v));
      out.push_back(wide_ ? values_[v].wide : values_[v].rounded);
    }
    return out;
  }

 private:
  struct RunValue {
    Tensor rounded, wide;
    size_t uses = 0;
  };

  Result<void> take_inputs(std::span<const Tensor> inputs) {
    const std::span<const ValueId> ids = graph_.inputs();
    const size_t needed = graph_.required_inputs();
    if (inputs.size() < needed || inputs.size() > ids.size()) {
      return fail(Code::bad_input, graph_.name, "wrong number of inputs")
          .expected(needed == ids.size() ? std::to_string(needed) : std::to_string(needed) + " to " + std::to_string(ids.size()))
          .found(std::to_string(inputs.size()));
    }
    for (size_t i = 0; i < ids.size(); ++i) {
      const ir::Value& value = graph_.value(ids[i]);
      const bool is_given = i < inputs.size() && !inputs[i].empty_handle();
      const Tensor given = is_given || !value.has_default() ? inputs[i] : TRY(materialise(*value.constant));
      TRY(check_input(value, given));
      Tensor rounded = TRY(as_stored(given, value.type.dtype, false));
      store(ids[i], rounded, TRY(as_stored(given, value.type.dtype, wide_)));
    }
    return {};
  }

  Result<void> check_input(const ir::Value& value, const Tensor& t) const {
    TRY(check_on_host(t, "input '" + value.name + "'"));
    if (fits(value.type, t, wide_)) return {};
    return fail(Code::bad_input, "input '" + value.name + "'", "kind, dtype or shape differs")
        .expected(value.type.text())
        .found(type_text(t));
  }

  void store(ValueId id, Tensor rounded, Tensor wide) {
    RunValue& p = values_[id];
    p.rounded = std::move(rounded);
    if (wide_) p.wide = std::move(wide);
    p.uses = graph_.value(id).uses.size();
  }

  Result<void> materialise_constant(ValueId id) {
    if (values_.contains(id)) return {};
    const ir::Value& value = graph_.value(id);
    TENON_ASSERT(value.is_constant());
    Tensor rounded = TRY(materialise(*value.constant));
    Tensor wide = wide_ ? TRY(as_stored(rounded, DType::none, true)) : Tensor();
    store(id, std::move(rounded), std::move(wide));
    return {};
  }

  Result<void> step(NodeId id) {
    const ir::Node& node = graph_.node(id);
    std::vector<const Tensor*> rounded, wide;
    for (ValueId v : node.inputs) {
      if (v) TRY(materialise_constant(v));
    }
    for (ValueId v : node.inputs) {
      rounded.push_back(v ? &values_[v].rounded : nullptr);
      wide.push_back(v ? &values_[v].wide : nullptr);
    }
    std::vector<Tensor> out = TRY(rounded_results(id, rounded));
    if (options_.perturbs)
      for (Tensor& t : out) t = TRY(perturbed(t));
    std::vector<Tensor> unrounded(out.size());
    if (wide_) unrounded = TRY(wide_results(id, wide, out));
    for (ValueId v : node.inputs) {
      if (v && --values_[v].uses == 0) values_.erase(v);
    }
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (!node.outputs[k] || out[k].empty_handle()) continue;
      if (options_.on_value) options_.on_value(node.outputs[k], wide_ ? unrounded[k] : out[k]);
      if (!graph_.value(node.outputs[k]).uses.empty()) store(node.outputs[k], std::move(out[k]), std::move(unrounded[k]));
    }
    return {};
  }

  const HostKernel* kernel_of(NodeId id) const {
    if (!options_.host_kernels) return nullptr;
    const auto at = options_.host_kernels->find(id);
    return at == options_.host_kernels->end() ? nullptr : at->second.get();
  }

  Result<std::vector<Tensor>> rounded_results(NodeId id, const std::vector<const Tensor*>& inputs) {
    const HostKernel* kernel = kernel_of(id);
    if (!kernel) return evaluate_node(graph_, id, inputs, Mode::declared, options_.byte_limit, options_.nodes_left, options_.random);
    std::vector<Tensor> out(graph_.node(id).outputs.size());
    if (auto done = kernel->run(inputs, out); !done) return std::unexpected(std::move(done).error().at(graph_.view(id).where()));
    return out;
  }

  /// Integers, bools and what depends on them (also sizes) are those of `rounded`.
  Result<std::vector<Tensor>> wide_results(NodeId id, const std::vector<const Tensor*>& inputs, const std::vector<Tensor>& rounded) {
    std::vector<Tensor> out = rounded;
    if (std::ranges::none_of(rounded, holds_floats) || def_of(*graph_.node(id).op).reads_bits || is_random(graph_, id)) {
      for (Tensor& t : out) t = TRY(as_stored(t, DType::none, true));
      return out;
    }
    const std::vector<Tensor> unrounded =
        TRY(evaluate_node(graph_, id, inputs, Mode::wide, options_.byte_limit, options_.nodes_left, options_.random));
    for (size_t k = 0; k < rounded.size(); ++k) out[k] = TRY(wide_result(rounded[k], unrounded[k]));
    return out;
  }

  /// rounded: a result, or a tensor in it, computed in Mode::declared; unrounded: the same, computed in Mode::wide.
  Result<Tensor> wide_result(const Tensor& rounded, const Tensor& unrounded) const {
    if (rounded.holds_tensors()) {
      if (unrounded.dtype() != rounded.dtype() || unrounded.count() != rounded.count()) return as_stored(rounded, DType::none, true);
      std::vector<Tensor> elements;
      for (size_t k = 0; k < rounded.elements().size(); ++k)
        elements.push_back(TRY(wide_result(rounded.elements()[k], unrounded.elements()[k])));
      return Tensor::of_elements(rounded.dtype(), std::move(elements));
    }
    if (!is_float(rounded.dtype())) return rounded;
    if (unrounded.dtype() != DType::f64 || unrounded.shape() != rounded.shape()) return as_stored(rounded, rounded.dtype(), true);
    // A result may share its bytes with an operand (Identity, Reshape); it is corrected in a copy.
    Tensor copy = TRY(Tensor::make(DType::f64, unrounded.shape(), options_.byte_limit));
    store_numbers(copy, numbers_of(unrounded));
    if (options_.keeps_declared_range) copy_non_finite(copy, rounded);
    return copy;
  }

  const Graph& graph_;
  const EvaluateOptions& options_;
  bool wide_;
  std::unordered_map<ValueId, RunValue> values_;
};

bool has_type(const ir::Type& type, const Tensor& t, Mode mode) { return t.empty_handle() || fits(type, t, mode == Mode::wide); }

/// Compares results with the types that inference gives for these operands (a difference is a bug of the op) and with those that the graph
/// declares.
Result<void> check_results(const NodeView& view, const std::vector<ir::Type>& declared, const std::vector<Tensor>& out, Mode mode) {
  for (size_t k = 0; k < out.size(); ++k) {
    const bool is_as_inferred = has_type(view.outputs[k], out[k], mode);
    if (is_as_inferred && has_type(declared[k], out[k], mode)) continue;
    return refuse(
               view, is_as_inferred ? Code::shape_mismatch : Code::internal,
               "result " + std::to_string(k) + (is_as_inferred ? " differs from its type in the graph" : " differs from its inferred type"))
        .expected((is_as_inferred ? declared : view.outputs)[k].text())
        .found(type_text(out[k]));
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Graph& graph, NodeId node, std::span<const Tensor* const> inputs, Mode mode,
                                          int64_t byte_limit, int64_t* nodes_left, const RandomScope& random) {
  if (nodes_left && --*nodes_left < 0) return fail(Code::limit_exceeded, graph.view(node).where(), "the run evaluates too many nodes");
  Symbols symbols;  // for data-dependent sizes of results; the operands' sizes are numbers
  NodeView view = graph.view(node);
  const std::vector<ir::Type> declared = view.outputs;
  const OpDef& def = def_of(*graph.node(node).op);
  // Types of bodies contain symbols of the graph, so these ops are not inferred again; evaluate() checks the inputs of each body.
  if (!def.reads_body_types) {
    view.symbols = &symbols;
    TRY(use_real_operand_types(view, inputs));
    TRY(infer_results(view));
  }
  std::vector<Tensor> out(view.outputs.size());
  if (def.reference) {
    Call call{view, inputs, out, mode == Mode::wide, byte_limit, random};
    auto done = def.reference(call);
    if (!done) return std::unexpected(std::move(done).error().at(view.where()));
  } else if (def.definition) {
    out = TRY(evaluate_definition(def, view, inputs, mode, byte_limit, nodes_left, random));
  } else {
    if (!view.op->unknown) return refuse(view, Code::not_supported, "not supported yet: evaluation by reference");
    return refuse(view, Code::not_supported, "an unknown op cannot be evaluated: it has no reference function")
        .expected("known ops (docs/ops.md)")
        .advice("compare a model without it; only its own backend can run it");
  }
  TRY(check_results(view, declared, out, mode));
  return out;
}

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::span<const Tensor> inputs, const EvaluateOptions& options) {
  if (!has_unnumbered_streams(graph)) return Run(graph, options)(inputs);
  const auto numbered = graph.clone();
  number_random_streams(*numbered);
  return Run(*numbered, options)(inputs);
}

}  // namespace tenon::ops
