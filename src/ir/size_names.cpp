// SPDX-License-Identifier: Apache-2.0
#include "ir/size_names.h"

#include "base/function_ref.h"

namespace tenon::ir {
namespace {

using Renamed = FunctionRef<Dim(Dim)>;

void rename_assumptions(Assumptions& assumptions, Renamed renamed) {
  const std::vector<Assumption> old(assumptions.all().begin(), assumptions.all().end());
  assumptions.truncate(0);
  for (const Assumption& a : old)
    assumptions.add(a.kind, renamed(a.a), renamed(a.b), [&](Assumption& made) {
      made.where = a.where;
      made.what = a.what;
    });
}

void rename(Graph& graph, Renamed renamed) {
  for (ValueId id : graph.values()) {
    Type type = graph.value(id).type;
    if (type.shape) {
      for (Dim& d : *type.shape) d = renamed(d);
      graph.set_type(id, std::move(type));
    }
    if (auto data = graph.value(id).data) {
      for (Dim& d : *data) d = renamed(d);
      graph.set_data(id, std::move(data));
    }
  }
  rename_assumptions(graph.assumptions, renamed);
  for (NodeId node : graph.nodes())
    for (size_t k = 0; k < graph.node(node).bodies.size(); ++k) rename(graph.body(node, k), renamed);
}

}  // namespace

SizeNames::SizeNames(Graph& graph) : graph_(graph) {
  for (Dim d : graph.symbols().all()) used_names_.insert(d.node()->name);
  for (ValueId input : graph.inputs())
    if (const auto& shape = graph.value(input).type.shape)
      for (Dim d : *shape) each_symbol(d, [&](const DimNode& s) { input_symbols_.insert(&s); });
}

void SizeNames::declare(Dim size, std::string_view name) {
  const DimNode* symbol = size.node();
  if (!symbol || symbol->kind != DimNode::Kind::symbol || input_symbols_.contains(symbol) || new_names_.contains(symbol)) return;
  if (!used_names_.insert(std::string(name)).second) return;
  new_names_.emplace(symbol, graph_.symbols().symbol(name, symbol->lower, symbol->upper));
}

void SizeNames::apply() {
  if (new_names_.empty()) return;
  const auto name_of = [&](const DimNode& s) {
    const auto at = new_names_.find(&s);
    return at == new_names_.end() ? Dim::of(&s) : at->second;
  };
  rename(graph_, [&](Dim d) { return d.is_number() ? d : substitute(d, name_of); });
}

}  // namespace tenon::ir
