// SPDX-License-Identifier: Apache-2.0
// The arguments of a rule's callbacks: the match, and the rewriter that builds nodes.
#include "context.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <any>
#include <optional>
#include <span>
#include <stdexcept>

#include "convert.h"
#include "new_node.h"
#include "sentence.h"

namespace tenon::python {
namespace {

/// The body of `outer` (or of one of its bodies) that is `graph`; null: none.
GraphPtr find_body(const GraphPtr& outer, const ir::Graph& graph) {
  const ir::Graph& g = outer->get();
  for (ir::NodeId node : g.nodes()) {
    for (size_t k = 0; k < g.node(node).bodies.size(); ++k) {
      auto body = std::make_shared<PyGraph>(outer, node, k);
      if (&body->get() == &graph) return body;
      if (GraphPtr inner = find_body(body, graph)) return inner;
    }
  }
  return nullptr;
}

nb::object state_of(const rewrite::Match& match) {
  const PyReference* state = match.has_state<PyReference>() ? &match.state<PyReference>() : nullptr;
  return state ? **state : nb::none();
}

/// An operand of a new node. Where its producer comes after the place of new nodes, that place moves.
ir::ValueId operand_before(const PyRewriter& w, nb::handle input) {
  const ir::ValueId operand = operand_in(*w.graph, input);
  const ir::NodeId producer = operand ? w.graph->get().value(operand).producer : ir::NodeId();
  if (producer) w.get().insert_after(producer);
  return operand;
}

/// Builds and infers one node; a mistake raises and leaves the rewriter usable.
nb::list build(const PyRewriter& w, const std::string& op_type, nb::iterable inputs, const nb::dict& attributes, const nb::dict& bodies,
               int outputs, const std::string& domain, const ResultNames& names) {
  const nb::list operands(inputs);
  for (nb::handle operand : operands) operand_before(w, operand);
  const ir::NodeId place = w.get().place();
  const ir::NodeId node = make_node(*w.graph, {op_type, domain, operands, attributes, bodies, outputs, names}, place);
  const auto& all = w.graph->get().node(node).outputs;
  // Those that the caller did not count are results that the op must have.
  const size_t asked = outputs < 0 ? all.size() : std::min(all.size(), std::max(static_cast<size_t>(outputs), names.size()));
  return list_of(w.graph, std::span<const ir::ValueId>(all.begin(), asked));
}

std::vector<ir::ValueId> operands_in(const PyRewriter& w, nb::iterable inputs) {
  std::vector<ir::ValueId> out;
  for (nb::handle input : inputs) out.push_back(operand_before(w, input));
  return out;
}

/// Inserts a copy of a node of any graph, with copies of its bodies; its last operands are what the bodies capture.
nb::list clone_node(const PyRewriter& w, const NodeRef& like, nb::iterable inputs) {
  ir::Graph& g = w.graph->edit();
  const std::vector<ir::ValueId> operands = operands_in(w, inputs);
  const ir::Node& from = resolve(like);
  if (operands.size() != from.inputs.size())
    raise(fail(Code::bad_usage, from.op->name, "wrong number of operands")
              .expected(std::to_string(from.inputs.size()) + ", those that its bodies capture among them")
              .found(std::to_string(operands.size())));
  struct Copy {
    std::string name;
    std::unique_ptr<ir::Graph> graph;
    std::span<const ir::ValueId> captures;
  };
  std::vector<Copy> copies;
  for (const ir::Body& b : from.bodies)
    copies.push_back({b.name, b.graph->clone_body(g), std::span(operands).subspan(b.first_capture, b.captures)});
  const ir::NodeId node = g.insert(*from.op, {operands.begin(), operands.begin() + from.explicit_inputs}, from.outputs.size(),
                                   from.attributes, w.get().place());
  for (Copy& c : copies) g.attach_body(node, std::move(c.name), std::move(c.graph), c.captures);
  if (const Result<void> inferred = ir::infer(g, node); !inferred) {
    g.erase(node);
    raise(inferred.error());
  }
  return list_of(w.graph, g.node(node).outputs);
}

void replace(const PyRewriter& w, const ValueRef& from, const ValueRef& to) { w.get().replace(id_in(*w.graph, from), id_in(*w.graph, to)); }

void bind_rewriter(nb::module_& m) {
  nb::class_<PyRewriter>(m, "Rewriter")
      .def_prop_ro("graph", [](const PyRewriter& w) { return w.graph; })
      .def("op", &build, nb::arg("op_type"), nb::arg("inputs"), nb::arg("attributes") = nb::dict(), nb::kw_only(),
           nb::arg("bodies") = nb::dict(), nb::arg("outputs") = -1, nb::arg("domain") = "", nb::arg("names") = ResultNames())
      .def(
          "again",
          [](const PyRewriter& w, const NodeRef& like, nb::iterable inputs) {
            std::vector<ir::ValueId> operands;
            for (nb::handle input : inputs) operands.push_back(operand_in(*w.graph, input));
            const auto results = w.get().clone_with_operands(id_in(*w.graph, like), std::move(operands));
            unwrap(Result<void>(w.get().status()));
            return list_of(w.graph, results);
          },
          nb::arg("like"), nb::arg("inputs"))
      .def("clone_node", &clone_node, nb::arg("like"), nb::arg("inputs"))
      .def(
          "constant",
          [](const PyRewriter& w, nb::handle array, nb::handle dtype, const std::string& name) {
            const ir::ValueId made = w.get().constant(tensor_of(array, dtype_of(dtype)));
            if (!name.empty()) w.graph->edit().set_name(made, name);
            return ValueRef{w.graph, made};
          },
          nb::arg("array"), nb::arg("dtype") = nb::none(), nb::arg("name") = "")
      .def("replace", &replace, nb::arg("old"), nb::arg("new"))
      .def_prop_ro("place", [](const PyRewriter& w) { return object_of(w.graph, w.get().place()); });
}

}  // namespace

GraphPtr Context::of(const ir::Graph& graph) {
  for (const GraphPtr& known : known_) {
    try {
      if (&known->get() == &graph) return known;
    } catch (nb::python_error&) {}  // a body that is gone
  }
  GraphPtr body = find_body(graph_, graph);
  if (!body) throw std::logic_error("a graph that is no part of the one that is being rewritten");
  known_.push_back(body);
  return body;
}

void Context::failed(const std::string& rule, nb::python_error& error) {
  const nb::object raised = nb::borrow(error.value());
  if (!PyErr_GivenExceptionMatches(raised.ptr(), PyExc_Exception)) interrupted_ = true;
  const std::string text = sentence_of(raised);
  errors.emplace_back(rule, raised);
  throw std::runtime_error(text);
}

void Context::raise_errors() const {
  if (errors.empty()) return;
  const nb::object& error = errors.back().second;
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

RewritingScope::RewritingScope(Root& r) : root(r) {
  if (root.rewriting) raise(fail(Code::bad_usage, "rewrite", "rules are running on this graph already"));
  root.rewriting = true;
}

Context& context_of(const std::any* args) {
  Context* const* context = args ? std::any_cast<Context*>(args) : nullptr;
  if (!context) throw std::logic_error("a rule written in Python runs only under tenon.rewriting");
  return **context;
}

const rewrite::Match& PyMatch::get() const {
  if (!match) raise(fail(Code::bad_usage, "match", "a match lives only while the rule's function runs"));
  return *match;
}

rewrite::Match& PyMatch::deciding() const {
  if (!open) raise(fail(Code::bad_usage, "match", "this match is decided"));
  return *open;
}

rewrite::Rewriter& PyRewriter::get() const {
  if (!rewriter) raise(fail(Code::bad_usage, "rewriter", "a rewriter lives only while the rule's function runs"));
  return *rewriter;
}

void bind_match(nb::module_& m) {
  nb::class_<PyMatch>(m, "Match")
      .def_prop_ro("graph", [](const PyMatch& p) { return p.graph; })
      .def_prop_ro("root", [](const PyMatch& p) { return NodeRef{p.graph, p.get().root()}; })
      .def_prop_ro("nodes", [](const PyMatch& p) { return list_of(p.graph, p.get().nodes); })
      .def_prop_ro("args", [](const PyMatch& p) { return p.get(), p.context->args; })
      .def(
          "take",
          [](const PyMatch& p, const NodeRef& node, bool is_root) {
            rewrite::Match& match = p.deciding();
            const ir::NodeId id = id_in(*p.graph, node);
            if (id != match.root()) match.take(id);
            if (is_root && id != match.root()) match.other_roots.push_back(id);
          },
          nb::arg("node"), nb::kw_only(), nb::arg("root") = false)
      .def(
          "refuse", [](const PyMatch& p, std::string reason) { return p.deciding().refuse(p.context->keep(std::move(reason))); },
          nb::arg("reason"))
      .def_prop_rw(
          "state", [](const PyMatch& p) { return state_of(p.get()); },
          [](const PyMatch& p, nb::object state) { p.deciding().accept(hold(std::move(state))); }, nb::arg().none());
  bind_rewriter(m);
}

nb::dict dict_of(const rewrite::Statistics& statistics) {
  nb::list rules;
  for (const rewrite::RuleStatistics& r : statistics.rules) {
    nb::dict refused, one;
    for (const auto& [reason, count] : r.refused) refused[reason.c_str()] = count;
    one["name"] = r.name;
    one["sets"] = r.sets;
    one["tried"] = r.tried;
    one["matches"] = r.matches;
    one["applied"] = r.applied;
    one["added"] = r.added;
    one["removed"] = r.removed;
    one["refused"] = refused;
    one["ms"] = r.ms;
    one["left_out"] = r.left_out;
    rules.append(one);
  }
  nb::dict out;
  out["rules"] = rules;
  out["nodes_before"] = statistics.nodes_before;
  out["nodes_after"] = statistics.nodes_after;
  out["visits"] = statistics.visits;
  out["sweeps"] = statistics.sweeps;
  out["ms"] = statistics.ms;
  out["changed"] = statistics.changed;
  out["reports"] = statistics.reports;
  return out;
}

}  // namespace tenon::python
