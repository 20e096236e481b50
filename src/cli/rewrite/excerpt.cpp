// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/contains.h"
#include "ir/literal.h"

namespace tenon::cli {
namespace {

constexpr int64_t kConstantBytes = 16384, kShownElements = 8;

class Cutter {
 public:
  explicit Cutter(const ir::Graph& from) : from_(from), excerpt_(ir::Graph::body_of(from)) { excerpt_->name = "excerpt"; }

  /// Before the nodes, because inputs come first.
  void bring(ir::ValueId value) {
    if (!value || of_.contains(value)) return;
    const ir::Value& v = from_.value(value);
    const std::string name = v.name.empty() ? fmt::format("v{}", value.slot()) : v.name;
    const bool small = v.is_constant() && v.constant->byte_size() <= kConstantBytes;
    of_[value] = small ? excerpt_->add_constant(v.constant, name) : excerpt_->add_input(name, v.type);
  }

  void copy(ir::NodeId id) {
    const ir::Node& node = from_.node(id);
    std::vector<ir::ValueId> operands;
    for (ir::ValueId v : node.inputs) operands.push_back(v ? of_.at(v) : v);
    const std::vector<ir::ValueId> own(operands.begin(), operands.begin() + node.explicit_inputs);
    const ir::NodeId made = excerpt_->insert(*node.op, own, node.outputs.size(), node.attributes);
    excerpt_->set_name(made, node.name);
    for (const ir::Body& body : node.bodies) {
      const auto captures = std::span(operands).subspan(body.first_capture, body.captures);
      excerpt_->attach_body(made, body.name, body.graph->clone_body(*excerpt_), captures);
    }
    for (uint32_t i = 0; i < node.outputs.size(); ++i) take_over(node.outputs[i], excerpt_->node(made).outputs[i]);
  }

  void give(const ExcerptResult& result) { excerpt_->add_output(of_.at(result.value), result.name); }
  std::unique_ptr<ir::Graph> take() { return std::move(excerpt_); }

 private:
  void take_over(ir::ValueId from, ir::ValueId to) {
    if (!from) return;
    of_[from] = to;
    excerpt_->set_type(to, from_.value(from).type);
    if (const std::string& name = from_.value(from).name; !name.empty()) excerpt_->set_name(to, name);
  }

  const ir::Graph& from_;
  std::unique_ptr<ir::Graph> excerpt_;
  std::unordered_map<ir::ValueId, ir::ValueId> of_;
};

/// Which producers of values lead back, in a few steps, to one of `values`.
class ProducerSearch {
 public:
  ProducerSearch(const ir::Graph& graph, std::span<const ir::ValueId> values) : graph_(graph), values_(values) {}

  bool reaches(ir::ValueId value, int steps = kSteps) {
    if (contains(values_, value)) return true;
    const ir::NodeId producer = graph_.value(value).producer;
    return producer && steps > 0 && leads(producer, steps - 1);
  }

  std::vector<ir::NodeId> between;

 private:
  static constexpr int kSteps = 6;
  static constexpr size_t kLookedAt = 64;

  bool leads(ir::NodeId node, int steps) {
    const auto [known, fresh] = leads_.emplace(node, false);
    if (!fresh) return known->second;
    if (leads_.size() > kLookedAt) return false;
    bool found = false;
    for (ir::ValueId v : graph_.node(node).inputs) found |= v && reaches(v, steps);
    if (found) between.push_back(node);
    return leads_[node] = found;
  }

  const ir::Graph& graph_;
  std::span<const ir::ValueId> values_;
  std::unordered_map<ir::NodeId, bool> leads_;
};

}  // namespace

std::vector<ir::ValueId> inputs_from_outside(const ir::Graph& graph, std::span<const ir::NodeId> nodes) {
  std::vector<ir::ValueId> out;
  for (ir::NodeId id : nodes)
    for (ir::ValueId v : graph.node(id).inputs)
      if (v && !graph.value(v).is_constant() && !contains(nodes, graph.value(v).producer) && !contains(out, v)) out.push_back(v);
  return out;
}

std::vector<ir::NodeId> nodes_between(const ir::Graph& graph, std::span<const ir::ValueId> values, std::span<const ir::NodeId> nodes) {
  ProducerSearch way(graph, values);
  for (ir::ValueId v : inputs_from_outside(graph, nodes)) way.reaches(v);
  std::erase_if(way.between, [&](ir::NodeId n) { return contains(nodes, n); });
  return way.between;
}

Excerpt cut_excerpt(const ir::Graph& graph, std::vector<ir::NodeId> nodes, std::span<const ir::NodeId> context,
                    std::span<const ExcerptResult> results) {
  nodes.insert(nodes.end(), context.begin(), context.end());
  std::ranges::sort(nodes, [&](ir::NodeId a, ir::NodeId b) { return graph.is_before(a, b); });
  const auto duplicates = std::ranges::unique(nodes);
  nodes.erase(duplicates.begin(), duplicates.end());
  Cutter cutter(graph);
  for (ir::NodeId id : nodes)
    for (ir::ValueId v : graph.node(id).inputs)
      if (v && !contains(nodes, graph.value(v).producer)) cutter.bring(v);
  for (const ExcerptResult& r : results)
    if (!contains(nodes, graph.value(r.value).producer)) cutter.bring(r.value);
  for (ir::NodeId id : nodes) cutter.copy(id);
  for (const ExcerptResult& r : results) cutter.give(r);
  Excerpt out{cutter.take(), {}};
  for (ir::NodeId id : nodes) out.context.push_back(contains(context, id));
  return out;
}

std::string elements_shown(const ir::Graph& graph, ir::ValueId constant) {
  const Tensor* tensor = graph.value(constant).constant->count() <= kShownElements ? graph.tensor_of(constant) : nullptr;
  if (!tensor) return {};
  return tensor->shape().empty() ? ir::element_text(*tensor, 0) : ir::elements_text(*tensor);
}

std::string title_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  std::string name = node.name;
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i)
    if (node.outputs[i]) name = graph.value(node.outputs[i]).name;
  return name.empty() ? node.op->name : fmt::format("{} ({})", name, node.op->name);
}

}  // namespace tenon::cli
