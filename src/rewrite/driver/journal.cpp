// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/journal.h"

#include <ranges>

namespace tenon::rewrite {

void Journal::attribute_changed(ir::NodeId node, std::string_view name, const ir::Attribute* before) {
  attributes_.push_back({node, std::string(name), before ? std::optional(*before) : std::nullopt});
}

std::vector<ir::NodeId> Journal::nodes_with_new_attributes() const {
  std::vector<ir::NodeId> nodes;
  for (const AttributeEdit& e : attributes_) nodes.push_back(e.node);
  return nodes;
}

void Journal::begin() {
  inserted_.clear();
  edits_.clear();
  constants_.clear();
  retyped_.clear();
  types_.clear();
  names_.clear();
  attributes_.clear();
  assumptions_ = graph_.assumptions.size();
}

void Journal::undo() {
  // The edits of the undoing itself are reported too; they are not part of what is undone.
  auto edits = std::move(edits_);
  auto nodes = std::move(inserted_);
  auto attributes = std::move(attributes_);
  for (OldType& known : types_ | std::views::reverse) {
    if (!graph_.alive(known.value)) continue;
    graph_.set_type(known.value, std::move(known.type));
    graph_.set_data(known.value, std::move(known.data));
  }
  for (AttributeEdit& e : attributes | std::views::reverse) {
    if (e.before) graph_.set_attribute(e.node, e.name, std::move(*e.before));
    else graph_.erase_attribute(e.node, e.name);
  }
  for (const Edit& e : edits | std::views::reverse) {
    if (e.node) graph_.set_operand(e.node, e.slot, e.before);
    else graph_.set_output(e.slot, e.before);
  }
  for (auto [from, to] : names_ | std::views::reverse) graph_.transfer_name(to, from);
  // A node that inference refused is gone already.
  for (ir::NodeId node : nodes | std::views::reverse)
    if (graph_.alive(node)) graph_.erase(node);
  for (ir::ValueId constant : constants_)
    if (graph_.alive(constant) && graph_.value(constant).uses.empty()) graph_.erase_value(constant);
  graph_.assumptions.truncate(assumptions_);
  begin();
}

}  // namespace tenon::rewrite
