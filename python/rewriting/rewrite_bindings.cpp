// SPDX-License-Identifier: Apache-2.0
// Running rules over a graph.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <set>

#include "context.h"
#include "passes/passes.h"
#include "rewrite/driver/analyse.h"
#include "rewrite/driver/isolate.h"
#include "rewriting/rule_sets.h"
#include "rewriting/verifier.h"
#include "rewriting/watchers.h"

namespace tenon::python {
namespace {

/// The arguments of tenon.rewriting.rewrite that are no options of the driver.
struct RewriteRequest {
  RunHooks watchers;
  bool isolate = false;
  std::set<std::string> fold_ops;  ///< ops that may fold; empty: all
};

void set_fold(rewrite::Options& options, const RewriteRequest& request) {
  options.fold = [&request](const ir::Graph& graph, ir::NodeId node) -> std::optional<std::vector<ir::ConstantRef>> {
    if (!request.fold_ops.empty() && !request.fold_ops.contains(graph.node(node).op->name)) return std::nullopt;
    return passes::fold_node(graph, node);
  };
}

rewrite::Order order_named(const std::string& name) {
  if (name == "worklist") return rewrite::Order::worklist;
  if (name == "sweep") return rewrite::Order::sweep;
  if (name == "in_turn") return rewrite::Order::in_turn;
  raise(fail(Code::bad_usage, "order", "no order has this name").expected("worklist, sweep or in_turn").found(name));
}

/// Raises what a callback has raised, where that must end the run.
void raise_interruption(const Context& context) {
  if (context.interrupted()) context.raise_errors();
}

void check_isolation(const PyRuleSet& set, const RewriteRequest& request) {
  const PyRule* rule = set.first_in_python();
  if (!rule && request.watchers.check.is_none()) return;
  raise(fail(Code::not_supported, "isolate", "not supported yet: Python in the process that tries the rules")
            .expected("rules of the library, equations and graphs, and no check")
            .found(rule ? "rule " + rule->rule->name + ", which calls Python" : "a check")
            .advice("run the rules that call Python without isolate, in a call of their own"));
}

/// Removes the rules that crash a child process; reports each in a sentence.
std::vector<std::string> leave_out_faulty_rules(const GraphPtr& graph, const PyRuleSet& set, rewrite::Options& options, Context& context) {
  // The GIL stays held: the child has this thread alone, and must not wait for a lock that another one held when it forked.
  auto faulty = rewrite::find_faulty_rules(graph->get(), set.get(), options);
  raise_interruption(context);
  std::vector<std::string> out;
  for (const rewrite::FaultyRule& g : unwrap(std::move(faulty))) {
    options.without.insert(g.name);
    out.push_back("rule " + g.name + " was left out: it " + g.failure + ", at " + g.node);
  }
  return out;
}

nb::dict run(const GraphPtr& graph, const PyRuleSet& set, rewrite::Options& options, Context& context, bool isolate) {
  const std::any args = &context;
  options.args = &args;
  std::vector<std::string> unsafe;
  auto statistics = [&] {
    const RewritingScope rewriting(graph->root());
    const GraphOwnerScope occupied(graph->root());
    if (isolate) unsafe = leave_out_faulty_rules(graph, set, options, context);
    const nb::gil_scoped_release released;
    return rewrite::rewrite(graph->get(), set.get(), options);
  }();
  raise_interruption(context);
  auto done = unwrap(std::move(statistics));
  done.reports.insert(done.reports.end(), unsafe.begin(), unsafe.end());
  nb::dict out = dict_of(done);
  nb::list errors;
  for (const auto& [rule, error] : context.errors) errors.append(nb::make_tuple(rule, error));
  out["errors"] = errors;
  out["inactive"] = nb::cast(set.get().inactive());
  return out;
}

/// One run, with the verifier that the caller named or gave.
nb::dict run_verified(const GraphPtr& graph, const PyRuleSet& set, rewrite::Options& options, RewriteRequest& request, nb::object args,
                      const nb::object& verify) {
  std::optional<PyVerifier> own;
  if (!nb::isinstance<PyVerifier>(verify)) own.emplace(nb::cast<std::string>(verify));
  PyVerifier& verifier = own ? *own : nb::cast<PyVerifier&>(verify);
  const bool verifies = verifier.mode != rewrite::Verify::off;
  if (verifies) request.watchers.verification = std::ref(verifier.verifier);
  Context context(graph, std::move(args));
  install_hooks(options, context, request.watchers);
  const VerifierLock borrowed(verifier);
  nb::dict out = run(graph, set, options, context, request.isolate);
  out["verification"] = verifies ? nb::object(dict_of(verifier.verifier.result())) : nb::none();
  return out;
}

nb::dict rewrite_graph(const GraphPtr& graph, nb::object rules, const std::string& order, const std::string& allowed,
                       std::optional<int64_t> stop_after, std::optional<int> iterations, int repeats, int64_t growth, bool timing,
                       bool bodies, std::set<std::string> keep, std::set<std::string> without, nb::object args, nb::handle fold,
                       nb::object applied, nb::object check, nb::object verify, bool isolate) {
  const RuleSetArgument set(std::move(rules));
  rewrite::Options options;
  options.order = order_named(order);
  options.allowed = numerics_named(allowed, "allowed");
  if (stop_after) options.stop_after = *stop_after;
  if (iterations) options.iterations = *iterations;
  options.repeats = repeats;
  options.growth = growth;
  options.timing = timing;
  options.bodies = bodies;
  options.keep.insert(keep.begin(), keep.end());
  options.without.insert(without.begin(), without.end());
  RewriteRequest request{{std::move(applied), std::move(check), nullptr}, isolate, {}};
  if (isolate) check_isolation(*set, request);
  if (!nb::isinstance<nb::bool_>(fold)) request.fold_ops = nb::cast<std::set<std::string>>(fold);
  if (!fold.is(nb::handle(Py_False))) set_fold(options, request);
  return run_verified(graph, *set, options, request, std::move(args), verify);
}

/// Callbacks may look and not touch. What one raises is raised here.
int64_t analyse_graph(const GraphPtr& graph, nb::object rules, nb::object args) {
  const RuleSetArgument set(std::move(rules));
  Context context(graph, std::move(args));
  const std::any found_by_rules = &context;
  auto count = [&] {
    const RewritingScope rewriting(graph->root());
    const GraphOwnerScope occupied(graph->root());
    const nb::gil_scoped_release released;
    return rewrite::analyse(graph->get(), set->get(), &found_by_rules);
  }();
  context.raise_errors();
  return unwrap(std::move(count));
}

}  // namespace

void bind_rewrite(nb::module_& m) {
  bind_rules(m);
  bind_rule_sets(m);
  bind_verifier(m);
  bind_why(m);
  m.def("rewrite", &rewrite_graph, nb::arg("graph"), nb::arg("rules"), nb::kw_only(), nb::arg("order") = "worklist",
        nb::arg("allowed") = "reassociating", nb::arg("stop_after") = nb::none(), nb::arg("iterations") = nb::none(),
        nb::arg("repeats") = 1000, nb::arg("growth") = 4, nb::arg("timing") = false, nb::arg("bodies") = true,
        nb::arg("keep") = std::set<std::string>(), nb::arg("without") = std::set<std::string>(), nb::arg("args") = nb::none(),
        nb::arg("fold") = false, nb::arg("applied") = nb::none(), nb::arg("check") = nb::none(), nb::arg("verify") = "off",
        nb::arg("isolate") = false);
  m.def("analyse", &analyse_graph, nb::arg("graph"), nb::arg("rules"), nb::kw_only(), nb::arg("args") = nb::none());
}

}  // namespace tenon::python
