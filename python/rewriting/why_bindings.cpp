// SPDX-License-Identifier: Apache-2.0
// Why a rule does not match.
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <any>
#include <optional>
#include <set>

#include "context.h"
#include "rewrite/why/why.h"
#include "rewriting/rule_sets.h"

namespace tenon::python {
namespace {

using rewrite::Why;

struct Place {
  GraphPtr graph;
  ir::NodeId node;
};

/// The node of that name, or the one that makes a value of that name; in bodies too.
std::optional<Place> find_node(const GraphPtr& graph, const std::string& name) {
  const ir::Graph& g = graph->get();
  if (const ir::ValueId v = g.find_value(name); v && g.value(v).producer) return Place{graph, g.value(v).producer};
  for (ir::NodeId id : g.nodes()) {
    if (g.node(id).name == name) return Place{graph, id};
    for (size_t k = 0; k < g.node(id).bodies.size(); ++k)
      if (auto found = find_node(std::make_shared<PyGraph>(graph, id, k), name)) return found;
  }
  return std::nullopt;
}

Place place_in(const GraphPtr& graph, const GraphPtr& own, ir::NodeId node) {
  if (&own->root() == &graph->root() && node) return {own, node};
  raise(fail(Code::bad_usage, "node", node ? "this belongs to another graph" : "no node makes this value"));
}

/// The node that the argument means: a node, a value that it makes, or the name of one.
Place place_of(const GraphPtr& graph, nb::handle asked) {
  NodeRef* node = nullptr;
  if (nb::try_cast(asked, node) && node) return resolve(*node), place_in(graph, node->graph, node->id);
  ValueRef* value = nullptr;
  if (nb::try_cast(asked, value) && value) return place_in(graph, value->graph, resolve(*value).producer);
  const auto name = nb::cast<std::string>(asked);
  if (auto found = find_node(graph, name)) return *found;
  raise(fail(Code::bad_usage, "node", "the graph has no node and no computed value of this name").found(name));
}

/// The queries that the rule supports.
rewrite::WhyOptions checked(const PyRule& rule, rewrite::WhyOptions options) {
  if (!rule.calls_python) return options;
  if (rule.rule->match_and_rewrite)
    raise(fail(Code::not_supported, rule.rule->name, "not supported yet: why_not for a Python rule that matches and rewrites in one go")
              .advice("give the rule match and rewrite"));
  options.try_rewrite = false;  // its functions are bound to this graph, and to no copy of it
  return options;
}

std::vector<Why> why_not(const GraphPtr& graph, const PyRule& rule, nb::handle node, size_t most, const std::string& allowed,
                         const std::set<std::string>& keep, nb::object args) {
  const std::set<std::string, std::less<>> kept(keep.begin(), keep.end());
  Context context(graph, std::move(args));
  const std::any found_by_rule = &context;
  const auto options =
      checked(rule, {.allowed = numerics_named(allowed, "allowed"), .keep = &kept, .args = &found_by_rule, .try_rewrite = true});
  const Place place = node.is_none() ? Place{graph, {}} : place_of(graph, node);
  const ir::Graph& at = place.graph->get();
  const RewritingScope looking(graph->root());
  std::vector<Why> out = [&] {
    const GraphOwnerScope occupied(graph->root());
    const nb::gil_scoped_release released;
    if (!place.node) return rewrite::best_partial_matches(at, *rule.rule, most, options);
    return std::vector{rewrite::why(at, *rule.rule, place.node, options)};
  }();
  context.raise_errors();
  return out;
}

nb::dict dict_of(const Why& w) {
  nb::dict out;
  out["rule"] = w.rule;
  out["node"] = w.node;
  out["outcome"] = std::string(rewrite::name_of(w.outcome));
  out["depth"] = w.depth;
  out["parts"] = w.parts;
  out["at"] = w.at;
  out["expected"] = w.expected;
  out["found"] = w.found;
  out["reason"] = w.reason;
  out["matched"] = nb::cast(w.matched);
  out["would_do"] = nb::cast(w.would_do);
  out["text"] = w.text();
  return out;
}

}  // namespace

void bind_why(nb::module_& m) {
  nb::class_<Why>(m, "Why")
      .def_ro("rule", &Why::rule)
      .def_ro("node", &Why::node)
      .def_prop_ro("outcome", [](const Why& w) { return std::string(rewrite::name_of(w.outcome)); })
      .def_ro("depth", &Why::depth)
      .def_ro("parts", &Why::parts)
      .def_ro("at", &Why::at)
      .def_ro("expected", &Why::expected)
      .def_ro("found", &Why::found)
      .def_ro("reason", &Why::reason)
      .def_ro("matched", &Why::matched)
      .def_ro("would_do", &Why::would_do)
      .def("as_dict", [](const Why& w) { return dict_of(w); })
      .def("__str__", &Why::text)
      .def("__repr__",
           [](const Why& w) { return "<Why " + w.rule + " at " + w.node + ": " + std::string(rewrite::name_of(w.outcome)) + ">"; });
  m.def("why_not", &why_not, nb::arg("graph"), nb::arg("rule"), nb::arg("node") = nb::none(), nb::kw_only(), nb::arg("most") = 3,
        nb::arg("allowed") = "reassociating", nb::arg("keep") = std::set<std::string>(), nb::arg("args") = nb::none());
}

}  // namespace tenon::python
