// SPDX-License-Identifier: Apache-2.0
// Running rules over a graph.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <set>

#include "context.h"
#include "ops/op.h"
#include "passes/passes.h"
#include "rewrite/analyse.h"
#include "rewrite/rule_set.h"

namespace tenon::python {
namespace {

/// What the caller of tenon.rewriting.rewrite asked for, as far as the driver's own options do not say it.
struct Wishes {
  nb::object applied, check;       ///< callables or None
  std::set<std::string> fold_ops;  ///< ops that may fold; empty: all
};

nb::object event_of(Context& context, const ir::Graph& graph, const rewrite::CompiledRule& rule, const rewrite::Match& match,
                    std::span<const ir::NodeId> made) {
  const GraphPtr handle = context.of(graph);
  nb::dict out;
  out["rule"] = rule.name;
  out["graph"] = handle;
  out["nodes"] = list_of(handle, match.nodes);
  out["made"] = list_of(handle, made);
  return out;
}

void set_watchers(rewrite::Options& options, Context& context, const Wishes& wishes) {
  if (!wishes.applied.is_none())
    options.applied = [&](const rewrite::Applied& a) {
      const nb::gil_scoped_acquire acquired;
      try {
        nb::object event = event_of(context, a.graph, a.rule, a.match, a.made);
        event["index"] = a.index;
        event["sweep"] = a.sweep;
        wishes.applied(event);
      } catch (nb::python_error& error) {
        try {
          context.failed(a.rule.name, error);
        } catch (const std::runtime_error&) {}  // booked; it is raised when the run has ended
      }
    };
  if (!wishes.check.is_none())
    options.check = [&](const rewrite::Proposal& p) -> Result<void> {
      const nb::gil_scoped_acquire acquired;
      try {
        nb::object event = event_of(context, p.graph, p.rule, p.match, p.made);
        const GraphPtr handle = context.of(p.graph);
        nb::list pairs;
        for (auto [from, to] : p.replacements) pairs.append(nb::make_tuple(ValueRef{handle, from}, ValueRef{handle, to}));
        event["replacements"] = pairs;
        const nb::object verdict = wishes.check(event);
        if (verdict.is_none() || verdict.is(nb::handle(Py_True))) return {};
        return fail(Code::bad_rule, "check", nb::cast<std::string>(nb::str(verdict)));
      } catch (nb::python_error& error) {
        try {
          context.failed(p.rule.name, error);
        } catch (const std::runtime_error& e) { return fail(Code::bad_rule, "check", e.what()); }
      }
    };
  // Ctrl-C, and what a watcher has raised, end the run.
  options.cancelled = [&context] {
    if (context.interrupted()) return true;
    const nb::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) return false;
    nb::python_error error;
    try {
      context.failed("", error);
    } catch (const std::runtime_error&) {}
    return true;
  };
}

void set_fold(rewrite::Options& options, const Wishes& wishes) {
  options.fold = [&wishes](const ir::Graph& graph, ir::NodeId node) -> std::optional<std::vector<ir::ConstantRef>> {
    if (!wishes.fold_ops.empty() && !wishes.fold_ops.contains(graph.node(node).op->name)) return std::nullopt;
    return passes::fold_node(graph, node);
  };
}

rewrite::Order order_named(const std::string& name) {
  if (name == "worklist") return rewrite::Order::worklist;
  if (name == "sweep") return rewrite::Order::sweep;
  if (name == "in_turn") return rewrite::Order::in_turn;
  raise(fail(Code::bad_usage, "order", "no order has this name").expected("worklist, sweep or in_turn").found(name));
}

rewrite::Numerics allowed_named(const std::string& name) {
  for (auto n : {rewrite::Numerics::exact, rewrite::Numerics::reassociating, rewrite::Numerics::approximate})
    if (rewrite::name_of(n) == name) return n;
  raise(fail(Code::bad_usage, "allowed", "no numerics class has this name").expected("exact, reassociating or approximate").found(name));
}

/// For the time of a run the graph takes no edit but those of rewrites.
struct Rewriting {
  explicit Rewriting(Root& root) : root(root) {
    if (root.rewriting) raise(fail(Code::bad_usage, "rewrite", "rules are running on this graph already"));
    root.rewriting = true;
  }
  ~Rewriting() { root.rewriting = false; }
  Root& root;
};

nb::dict run(const GraphPtr& graph, const rewrite::RuleSet& set, rewrite::Options& options, Context& context) {
  const std::any args = &context;
  options.args = &args;
  auto statistics = [&] {
    const Rewriting rewriting(graph->root());
    const Occupy occupied(graph->root());
    const nb::gil_scoped_release released;
    return rewrite::rewrite(graph->get(), set, options);
  }();
  if (context.interrupted()) {
    const nb::object& error = context.errors.back().second;
    PyErr_SetObject(error.type().ptr(), error.ptr());
    throw nb::python_error();
  }
  nb::dict out = dict_of(unwrap(std::move(statistics)));
  nb::list errors;
  for (const auto& [rule, error] : context.errors) errors.append(nb::make_tuple(rule, error));
  out["errors"] = errors;
  out["inactive"] = nb::cast(set.inactive());
  return out;
}

nb::dict rewrite_graph(const GraphPtr& graph, nb::iterable rules, const std::string& order, const std::string& allowed,
                       std::optional<int64_t> stop_after, std::optional<int> iterations, int repeats, int64_t growth, bool timing,
                       bool bodies, std::set<std::string> keep, nb::object args, nb::handle fold, nb::object applied, nb::object check) {
  std::vector<rewrite::RulePtr> given;
  for (nb::handle rule : rules) given.push_back(nb::cast<const PyRule&>(rule).rule);
  const rewrite::RuleSet set(std::move(given), ops::table());
  rewrite::Options options;
  options.order = order_named(order);
  options.allowed = allowed_named(allowed);
  if (stop_after) options.stop_after = *stop_after;
  if (iterations) options.iterations = *iterations;
  options.repeats = repeats;
  options.growth = growth;
  options.timing = timing;
  options.bodies = bodies;
  options.keep.insert(keep.begin(), keep.end());
  Wishes wishes{std::move(applied), std::move(check), {}};
  Context context(graph, std::move(args));
  if (!nb::isinstance<nb::bool_>(fold)) wishes.fold_ops = nb::cast<std::set<std::string>>(fold);
  if (!fold.is(nb::handle(Py_False))) set_fold(options, wishes);
  set_watchers(options, context, wishes);
  return run(graph, set, options, context);
}

/// Callbacks may look and not touch. What one raises is raised here.
int64_t analyse_graph(const GraphPtr& graph, nb::iterable rules, nb::object args) {
  std::vector<rewrite::RulePtr> given;
  for (nb::handle rule : rules) given.push_back(nb::cast<const PyRule&>(rule).rule);
  const rewrite::RuleSet set(std::move(given), ops::table());
  Context context(graph, std::move(args));
  const std::any found_by_rules = &context;
  auto count = [&] {
    const Rewriting rewriting(graph->root());
    const Occupy occupied(graph->root());
    const nb::gil_scoped_release released;
    return rewrite::analyse(graph->get(), set, &found_by_rules);
  }();
  if (!context.errors.empty()) {
    const nb::object& error = context.errors.back().second;
    PyErr_SetObject(error.type().ptr(), error.ptr());
    throw nb::python_error();
  }
  return unwrap(std::move(count));
}

}  // namespace

void bind_rewrite(nb::module_& m) {
  bind_rules(m);
  m.def("rewrite", &rewrite_graph, nb::arg("graph"), nb::arg("rules"), nb::kw_only(), nb::arg("order") = "worklist",
        nb::arg("allowed") = "reassociating", nb::arg("stop_after") = nb::none(), nb::arg("iterations") = nb::none(),
        nb::arg("repeats") = 1000, nb::arg("growth") = 4, nb::arg("timing") = false, nb::arg("bodies") = true,
        nb::arg("keep") = std::set<std::string>(), nb::arg("args") = nb::none(), nb::arg("fold") = false, nb::arg("applied") = nb::none(),
        nb::arg("check") = nb::none());
  m.def("analyse", &analyse_graph, nb::arg("graph"), nb::arg("rules"), nb::kw_only(), nb::arg("args") = nb::none());
}

}  // namespace tenon::python
