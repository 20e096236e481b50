// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "base/nearest.h"
#include "ir/module_path.h"
#include "partition/names.h"

namespace tenon::partition {

namespace {

struct Place {
  ir::Graph* graph;
  ir::NodeId node;
  std::string name, module;
};

void collect(ir::Graph& graph, std::vector<Place>& out) {
  for (auto& [node, name] : names_of_nodes(graph)) {
    out.push_back({&graph, node, std::move(name), ir::module_of(graph.node(node))});
    for (size_t b = 0; b < graph.node(node).bodies.size(); ++b) collect(graph.body(node, b), out);
  }
}

/// The most similar name; where none is similar, the beginning of a path that contains the name, up to its end.
std::string nearest_of(const std::string& name, const std::set<std::string>& known) {
  if (std::string near = nearest_name(name, known); !near.empty()) return near;
  std::string path_pattern = name;
  std::ranges::replace(path_pattern, '.', '/');
  for (const std::string& k : known) {
    std::string path = "/" + k + "/";
    std::ranges::replace(path, '.', '/');
    if (const size_t at = path.find("/" + path_pattern + "/"); at != path.npos) return k.substr(0, at + path_pattern.size());
  }
  return {};
}

/// "Add, MatMul, and 17 more".
std::string some_of(const std::set<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string out = names.empty() ? "none: the model has none" : "";
  for (auto at = names.begin(); at != std::next(names.begin(), static_cast<ptrdiff_t>(std::min(names.size(), kShown))); ++at)
    out += (out.empty() ? "" : ", ") + *at;
  return names.size() > kShown ? out + fmt::format(", and {} more", names.size() - kShown) : out;
}

Error unknown(std::string place, std::string what, const std::string& name, const std::set<std::string>& known) {
  const std::string near = nearest_of(name, known);
  return fail(Code::bad_usage, std::move(place), std::move(what))
      .expected(some_of(known))
      .found(fmt::format("'{}'", name))
      .advice(near.empty() ? "`tenon partition MODEL --dry-run --json` names nodes, ops and modules"
                           : fmt::format("did you mean '{}'?", near));
}

Error not_listed(const Pin& pin, const Roles& roles) {
  std::set<std::string> listed;
  for (uint16_t b = 0; b < roles.listed; ++b) listed.emplace(roles.backends[b]->name());
  const std::string near = nearest_name(pin.backend, listed);
  return fail(Code::bad_usage, fmt::format("pin {}={}", pin.name, pin.backend), "the backend is not listed")
      .expected(fmt::format("{}", fmt::join(listed, ", ")))
      .found(pin.backend)
      .advice(near.empty() ? "name it among the backends too"
                           : fmt::format("did you mean '{}'? Else name it among the backends too", near));
}

/// A constraint on a node. specificity: a constraint on the node itself overrides one on its module, and a longer path a shorter one.
struct Constraint {
  ir::Placement placement;
  size_t specificity;
};

class Binding {
 public:
  Binding(ir::Graph& graph, const Constraints& constraints, const Roles& roles) : constraints_(constraints), roles_(roles) {
    collect(graph, places_);
  }

  Result<void> run() {
    TRY(add_op_constraints());
    TRY(add_module_constraints());
    TRY(add_pins());
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const ir::Placement>> shared;
    for (size_t k = 0; k < places_.size(); ++k) {
      const auto at = constraints_of_.find(k);
      if (at == constraints_of_.end()) continue;
      const ir::Placement& p = at->second.placement;
      std::shared_ptr<const ir::Placement>& placement = shared[{p.backend, p.text}];
      if (!placement) placement = std::make_shared<const ir::Placement>(p);
      attach(places_[k], placement);
    }
    return {};
  }

 private:
  static constexpr size_t kNode = SIZE_MAX, kOp = SIZE_MAX - 1;

  Result<void> add_op_constraints() {
    std::set<std::string> known;
    for (const Place& p : places_) known.insert(op_name(*p.graph->node(p.node).op));
    for (const std::string& op : constraints_.fallback_ops) {
      if (!known.contains(op)) return unknown("fallback-ops", "the model has no such op", op, known);
      for (size_t k = 0; k < places_.size(); ++k)
        if (op_name(*places_[k].graph->node(places_[k].node).op) == op)
          TRY(add_constraint(k, {{"", "fallback_op", "fallback-ops " + op}, kOp}));
    }
    for (const Pin& p : constraints_.preferred) {
      if (!known.contains(p.name)) return unknown("prefer", "the model has no op that the preferred kernel computes", p.name, known);
      for (size_t k = 0; k < places_.size(); ++k)
        if (op_name(*places_[k].graph->node(places_[k].node).op) == p.name)
          TRY(add_constraint(k, {{p.backend, "preferred", "prefer a kernel of " + p.name}, kOp}));
    }
    return {};
  }

  Result<void> add_module_constraints() {
    for (const std::string& module : constraints_.fallback_modules) {
      const auto found = in_module(module);
      if (found.empty()) return unknown("fallback-modules", "the model has no such module", module, all_modules());
      for (size_t k : found) TRY(add_constraint(k, {{"", "fallback_module", "fallback-modules " + module}, ir::module_depth(module)}));
    }
    return {};
  }

  Result<void> add_pins() {
    for (const Pin& pin : constraints_.pins) {
      const auto has_name = [&](const backend::Backend* b) { return b->name() == pin.backend; };
      if (std::ranges::none_of(std::span(roles_.backends).first(roles_.listed), has_name)) return not_listed(pin, roles_);
      std::vector<size_t> found;
      for (size_t k = 0; k < places_.size(); ++k)
        if (places_[k].name == pin.name) found.push_back(k);
      const bool is_node = !found.empty();
      if (!is_node) found = in_module(pin.name);
      if (found.empty()) {
        std::set<std::string> known = all_modules();
        for (const Place& p : places_) known.insert(p.name);
        return unknown("pin", "the model has no such node or module", pin.name, known);
      }
      for (size_t k : found)
        TRY(add_constraint(
            k, {{pin.backend, "pinned", fmt::format("pin {}={}", pin.name, pin.backend)}, is_node ? kNode : ir::module_depth(pin.name)}));
    }
    return {};
  }

  std::string_view backend_of(const Constraint& constraint) const {
    return constraint.placement.backend.empty() ? roles_.backends[roles_.fallback()]->name()
                                                : std::string_view(constraint.placement.backend);
  }

  Result<void> add_constraint(size_t place, Constraint constraint) {
    const auto [at, is_new] = constraints_of_.try_emplace(place, constraint);
    Constraint& known = at->second;
    if (is_new) return {};
    const bool contradicts = backend_of(known) != backend_of(constraint);
    // An op constraint holds for every node of the op: a pin does not override it.
    if (contradicts && (known.specificity == constraint.specificity || known.specificity == kOp || constraint.specificity == kOp))
      return fail(Code::bad_usage, "node '" + places_[place].name + "'", "it is to run in two places")
          .expected("one constraint for a node")
          .found(fmt::format("{} and {}", known.placement.text, constraint.placement.text))
          .advice("leave one of the two out");
    if (constraint.specificity > known.specificity) known = std::move(constraint);
    return {};
  }

  std::vector<size_t> in_module(const std::string& module) const {
    std::vector<size_t> out;
    for (size_t k = 0; k < places_.size(); ++k)
      if (ir::is_in_module(places_[k].module, module)) out.push_back(k);
    return out;
  }
  std::set<std::string> all_modules() const {
    std::set<std::string> out;
    for (const Place& p : places_) out.insert(p.module);
    out.erase("");
    return out;
  }

  static void attach(const Place& at, const std::shared_ptr<const ir::Placement>& placement) {
    const ir::Node& node = at.graph->node(at.node);
    ir::Provenance provenance = node.provenance ? *node.provenance : ir::Provenance();
    provenance.placement = placement;
    at.graph->set_provenance(at.node, std::make_shared<const ir::Provenance>(std::move(provenance)));
  }

  const Constraints& constraints_;
  const Roles& roles_;
  std::vector<Place> places_;
  std::unordered_map<size_t, Constraint> constraints_of_;
};

}  // namespace

Result<void> attach_constraints(ir::Graph& graph, const Constraints& constraints, const Roles& roles) {
  TRY(check_narrowing(constraints, roles));
  if (constraints.fallback_ops.empty() && constraints.fallback_modules.empty() && constraints.pins.empty() && constraints.preferred.empty())
    return {};
  return Binding(graph, constraints, roles).run();
}

std::string op_name(const ir::Op& op) { return op.domain.empty() ? op.name : op.domain + "::" + op.name; }

}  // namespace tenon::partition
