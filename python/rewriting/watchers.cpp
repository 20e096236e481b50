// SPDX-License-Identifier: Apache-2.0
#include "rewriting/watchers.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <stdexcept>

namespace tenon::python {
namespace {

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

void log(Context& context, const RunHooks& watchers, const rewrite::RewriteEvent& a) {
  const nb::gil_scoped_acquire acquired;
  try {
    nb::object event = event_of(context, a.graph, a.rule, a.match, a.new_nodes);
    event["index"] = a.index;
    event["sweep"] = a.sweep;
    watchers.applied(event);
  } catch (nb::python_error& error) {
    try {
      context.failed(a.rule.name, error);
    } catch (const std::runtime_error&) {}  // booked; it is raised when the run has ended
  }
}

Result<void> ask(Context& context, const RunHooks& watchers, const rewrite::Proposal& p) {
  const nb::gil_scoped_acquire acquired;
  try {
    nb::object event = event_of(context, p.graph, p.rule, p.match, p.new_nodes);
    const GraphPtr handle = context.of(p.graph);
    nb::list pairs;
    for (auto [from, to] : p.replacements) pairs.append(nb::make_tuple(ValueRef{handle, from}, ValueRef{handle, to}));
    event["replacements"] = pairs;
    const nb::object verdict = watchers.check(event);
    if (verdict.is_none() || verdict.is(nb::handle(Py_True))) return {};
    return fail(Code::bad_rule, "check", nb::cast<std::string>(nb::str(verdict)));
  } catch (nb::python_error& error) {
    try {
      context.failed(p.rule.name, error);
    } catch (const std::runtime_error& e) { return fail(Code::bad_rule, "check", e.what()); }
  }
}

/// Ctrl-C, and what a watcher has raised, end the run.
bool has_to_stop(Context& context) {
  if (context.interrupted()) return true;
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() == 0) return false;
  nb::python_error error;
  try {
    context.failed("", error);
  } catch (const std::runtime_error&) {}
  return true;
}

}  // namespace

void install_hooks(rewrite::Options& options, Context& context, const RunHooks& watchers) {
  if (!watchers.applied.is_none()) options.applied = [&](const rewrite::RewriteEvent& a) { log(context, watchers, a); };
  const bool asks = !watchers.check.is_none();
  if (watchers.verification || asks)
    options.check = [&context, &watchers, asks](const rewrite::Proposal& p) -> Result<void> {
      if (watchers.verification) TRY(watchers.verification(p));
      return asks ? ask(context, watchers, p) : Result<void>();
    };
  // A forked child leaves signals to its parent, which ends it.
  options.cancelled = [&context, process = getpid()] { return getpid() == process && has_to_stop(context); };
}

}  // namespace tenon::python
