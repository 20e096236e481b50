// SPDX-License-Identifier: Apache-2.0
// Values that follow from constants alone.
#include <optional>
#include <unordered_map>

#include "convert.h"
#include "handles.h"
#include "ops/reference/evaluate.h"

namespace tenon::python {
namespace {

bool may_compute(const ir::Node& node) { return node.bodies.empty() && node.op->deterministic && !node.op->has_effects; }

/// Looks at each value once.
class Computer {
 public:
  explicit Computer(const ir::Graph& graph) : graph_(graph) {}

  bool follows(ir::ValueId id) {
    if (!id) return true;
    const auto known = follows_.find(id);
    if (known != follows_.end()) return known->second;
    const ir::Value& v = graph_.value(id);
    bool answer = v.is_constant() && !v.constant->unread();
    if (v.kind == ir::Value::Kind::result && may_compute(graph_.node(v.producer))) {
      answer = true;
      for (ir::ValueId input : graph_.node(v.producer).inputs) answer = answer && follows(input);
    }
    return follows_[id] = answer;
  }

  Result<Tensor> compute(ir::ValueId id) {
    if (const auto known = tensors_.find(id); known != tensors_.end()) return known->second;
    const ir::Value& v = graph_.value(id);
    if (v.is_constant()) return tensors_[id] = TRY(ir::materialise(*v.constant));
    const ir::Node& node = graph_.node(v.producer);
    std::vector<const Tensor*> inputs;
    for (ir::ValueId input : node.inputs) {
      if (input) TRY(compute(input));
      inputs.push_back(input ? &tensors_.at(input) : nullptr);
    }
    const auto results = TRY(ops::evaluate_node(graph_, v.producer, inputs, ops::Mode::declared));
    for (size_t k = 0; k < results.size() && k < node.outputs.size(); ++k)
      if (node.outputs[k]) tensors_[node.outputs[k]] = results[k];
    return tensors_.at(id);
  }

 private:
  const ir::Graph& graph_;
  std::unordered_map<ir::ValueId, bool> follows_;
  std::unordered_map<ir::ValueId, Tensor> tensors_;  // references stay valid when it grows
};

}  // namespace

bool is_computable(const ValueRef& value) {
  resolve(value);
  return Computer(value.graph->get()).follows(value.id);
}

nb::object computed(const ValueRef& value) {
  resolve(value);
  Computer computer(value.graph->get());
  if (!computer.follows(value.id)) return nb::none();
  return numpy_of(unwrap(computer.compute(value.id)));
}

}  // namespace tenon::python
