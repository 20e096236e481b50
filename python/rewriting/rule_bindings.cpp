// SPDX-License-Identifier: Apache-2.0
// Rules: equations, pairs of graphs, callables, and those of the library.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "compiler/plugins.h"
#include "context.h"
#include "ops/core/op.h"
#include "plugins/environment.h"
#include "rewrite/equation/pattern_graph.h"
#include "rewriting/rule_sets.h"
#include "rules/registry/registry.h"

namespace tenon::python {
namespace {

using rewrite::CompiledRule;
using rewrite::Match;
using rewrite::Rewriter;
using Files = std::vector<std::filesystem::path>;
using MadeRule = std::shared_ptr<CompiledRule>;

/// Calls `f` with the GIL and the callback's arguments; what it raises is booked under the rule's name.
template <class F>
auto with_python(const std::string& rule, const Match& match, Match* open, F f) {
  Context& context = context_of(match.all_args());
  const nb::gil_scoped_acquire acquired;
  auto* seen = new PyMatch{&match, open, &context, nullptr};
  const nb::object held = nb::cast(seen, nb::rv_policy::take_ownership);
  struct Close {
    PyMatch* seen;
    Root& root;
    ~Close() {
      seen->match = nullptr;
      seen->open = nullptr;
      root.open = nullptr;
    }
  } close{seen, context.root()};
  try {
    seen->graph = context.of(match.graph());
    return f(held, *seen);
  } catch (nb::python_error& error) { context.failed(rule, error); }
}

bool is_true(const nb::object& answer, bool none) {
  if (answer.is_none()) return none;
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

/// `function(match, rewriter)`; while it runs the graph may be edited.
bool build(const nb::object& function, const nb::object& match, const PyMatch& seen, Rewriter& rewriter, bool none) {
  auto* hand = new PyRewriter{&rewriter, seen.graph};
  const nb::object held = nb::cast(hand, nb::rv_policy::take_ownership);
  struct Close {
    PyRewriter* hand;
    ~Close() { hand->rewriter = nullptr; }
  } close{hand};
  seen.context->root().open = &seen.graph->get();
  return is_true(function(match, held), none);
}

void set_callables(CompiledRule& rule, const nb::dict& functions) {
  const auto function = [&](const char* name) -> PyReference {
    return functions.contains(name) && !functions[name].is_none() ? hold(nb::object(functions[name])) : nullptr;
  };
  const std::string name = rule.name;
  if (PyReference f = function("match"))
    rule.match = [name, f](Match& m) {
      return with_python(name, m, &m, [&](const nb::object& match, const PyMatch&) { return is_true((*f)(match), false); });
    };
  if (PyReference f = function("rewrite"))
    rule.rewrite = [name, f](const Match& m, Rewriter& w) {
      return with_python(name, m, nullptr, [&](const nb::object& match, const PyMatch& seen) { return build(*f, match, seen, w, true); });
    };
  if (PyReference f = function("match_and_rewrite"))
    rule.match_and_rewrite = [name, f](Match& m, Rewriter& w) {
      return with_python(name, m, &m, [&](const nb::object& match, const PyMatch& seen) { return build(*f, match, seen, w, false); });
    };
  if (PyReference f = function("screen"))
    rule.screen = [name, f](const ir::Graph& graph, int sweep, const std::any* args) {
      Context& context = context_of(args);
      const nb::gil_scoped_acquire acquired;
      try {
        const auto [nodes, tried] = nb::cast<std::pair<std::vector<NodeRef>, int64_t>>((*f)(context.of(graph), sweep));
        rewrite::ScreenResult out{.nodes = {}, .tried = tried};
        for (const NodeRef& node : nodes) out.nodes.push_back(node.id);
        return out;
      } catch (nb::python_error& error) { context.failed(name, error); }
    };
  if (PyReference f = function("analyse"))
    rule.analyse = [name, f](const Match& m) {
      with_python(name, m, nullptr, [&](const nb::object& match, const PyMatch&) {
        (*f)(match);
        return true;
      });
    };
}

MadeRule begun(std::string name, std::string docs, const std::string& numerics, int benefit, bool shared, std::string sets) {
  auto rule = std::make_shared<CompiledRule>();
  rule->name = std::move(name);
  rule->docs = std::move(docs);
  rule->numerics = numerics_named(numerics, "numerics");
  rule->benefit = benefit;
  rule->allow_outside_uses = shared;
  rule->sets = std::move(sets);
  return rule;
}

PyRule from_code(std::string name, const nb::dict& functions, std::vector<std::string> roots, std::string docs, const std::string& numerics,
                 int benefit, bool shared, bool reshapes, std::string sets) {
  auto rule = begun(std::move(name), std::move(docs), numerics, benefit, shared, std::move(sets));
  rule->roots = std::move(roots);
  rule->reshapes = reshapes;
  set_callables(*rule, functions);
  if (!rule->match_and_rewrite && !rule->analyse && !(rule->match && rule->rewrite))
    raise(fail(Code::bad_rule, rule->name, "a rule needs match and rewrite, match_and_rewrite, or analyse"));
  return {rule, true};
}

PyRule from_equation(const std::string& text, std::string name, std::string docs, const std::string& numerics, int benefit, bool shared,
                     std::string sets, const Files& plugins) {
  auto equation = unwrap(rewrite::Equation::parse(text, *unwrap(compiler::load_plugins(with_environment(plugins))).ops));
  if (name.empty()) name = equation.name().empty() ? "equation" : equation.name();
  auto rule = begun(std::move(name), std::move(docs), numerics, benefit, shared, std::move(sets));
  rule->equation = std::move(equation);
  return {rule};
}

nb::dict bindings_of(const rewrite::Equation& equation, const Match& match, const GraphPtr& graph) {
  nb::dict out;
  const auto& bindings = match.state<rewrite::Bindings>();
  for (size_t k = 0; k < equation.variables.size(); ++k) {
    const auto& slot = bindings.slots[k];
    if (slot.kind == rewrite::Bindings::Slot::Kind::value) out[equation.variables[k].name.c_str()] = object_of(graph, slot.value);
  }
  return out;
}

std::string qualified(const ir::Op& op) { return op.domain.empty() ? op.name : op.domain + "::" + op.name; }

nb::list roots_in(const Match& match, const GraphPtr& graph) { return list_of(graph, match.state<rewrite::Bindings>().roots); }

std::vector<std::string> roots_of(const rewrite::Equation& equation) {
  const rewrite::Term& root = equation.terms[equation.left[0]];
  std::vector<std::string> out;
  if (root.op) out.push_back(qualified(*root.op));
  for (int choice : root.kind == rewrite::Term::Kind::alternatives ? root.operands : std::vector<int>()) {
    const ir::Op* op = equation.terms[choice].op;
    if (op && std::ranges::find(out, qualified(*op)) == out.end()) out.push_back(qualified(*op));
  }
  return out;
}

/// An equation that a callable may still refuse, check(match, values by name), or whose right side one builds:
/// make(match, rewriter, values by name, roots).
void add_callables(CompiledRule& rule, const PyReference& check, const PyReference& make) {
  auto equation = std::make_shared<const rewrite::Equation>(std::move(*rule.equation));
  rule.equation.reset();
  rule.roots = roots_of(*equation);
  const std::string name = rule.name;
  rule.match = [name, equation, check](Match& m) {
    if (!equation->match(m)) return false;
    if (!check) return true;
    return with_python(name, m, nullptr,
                       [&](const nb::object& match, const PyMatch& seen) {
                         return is_true((*check)(match, bindings_of(*equation, m, seen.graph)), true);
                       }) ||
           m.refuse("the rule's check says no");
  };
  rule.rewrite = [name, equation, make](const Match& m, Rewriter& w) {
    if (!make) return equation->rewrite(m, w);
    return with_python(name, m, nullptr, [&](const nb::object& match, const PyMatch& seen) {
      const nb::object function = nb::cpp_function([&](nb::object match, nb::object rewriter) {
        return (*make)(match, rewriter, bindings_of(*equation, m, seen.graph), roots_in(m, seen.graph));
      });
      return build(function, match, seen, w, true);
    });
  };
}

PyRule from_graphs(const PyGraph& match, const PyGraph* apply, std::string name, std::string docs, const std::string& numerics, int benefit,
                   bool shared, std::string sets, bool attributes, nb::object check, nb::object make) {
  auto rule = begun(std::move(name), std::move(docs), numerics, benefit, shared, std::move(sets));
  if (!apply && make.is_none())
    raise(fail(Code::bad_usage, rule->name, "a pattern needs what it becomes").expected("a graph `apply`, or a callable `make`"));
  auto equation = rewrite::equation_of(match.get(), apply ? apply->get() : match.get(), {.compare_attributes = attributes});
  rule->equation = unwrap(std::move(equation));
  const auto held = [](nb::object& f) { return f.is_none() ? PyReference() : hold(std::move(f)); };
  const bool calls_python = !check.is_none() || !make.is_none();
  if (calls_python) add_callables(*rule, held(check), held(make));
  return {rule, calls_python};
}

nb::list select(const std::string& expression) {
  nb::list out;
  for (const rules::Entry& entry : unwrap(rules::select(expression))) {
    auto compiled = rules::compile(entry, ops::table());
    if (!compiled && compiled.error().code() == Code::not_supported) continue;  // names an op that there is not: it can match nothing
    out.append(PyRule{unwrap(std::move(compiled))});
  }
  return out;
}

std::vector<std::string> roots_of_rule(const PyRule& r) { return r.rule->equation ? roots_of(*r.rule->equation) : r.rule->roots; }

const char* stage_of(const PyRule& r) {
  switch (r.rule->stage) {
    case rewrite::Stage::clean: return "clean";
    case rewrite::Stage::fuse: return "fuse";
    case rewrite::Stage::trim: return "trim";
    case rewrite::Stage::combine: return "combine";
    case rewrite::Stage::target: return "target";
  }
  return "";
}

nb::list visits(const GraphPtr& match) { return list_of(match, rewrite::visit_order(match->get())); }

}  // namespace

void bind_rules(nb::module_& m) {
  bind_match(m);
  nb::class_<PyRule>(m, "Rule")
      .def_static("equation", &from_equation, nb::arg("text"), nb::kw_only(), nb::arg("name") = "", nb::arg("docs") = "",
                  nb::arg("numerics") = "exact", nb::arg("benefit") = 1, nb::arg("shared") = false, nb::arg("sets") = "",
                  nb::arg("plugins") = Files())
      .def_static("code", &from_code, nb::arg("name"), nb::arg("functions"), nb::kw_only(), nb::arg("roots") = std::vector<std::string>(),
                  nb::arg("docs") = "", nb::arg("numerics") = "exact", nb::arg("benefit") = 1, nb::arg("shared") = false,
                  nb::arg("reshapes") = false, nb::arg("sets") = "")
      .def_static("graphs", &from_graphs, nb::arg("match"), nb::arg("apply").none(), nb::kw_only(), nb::arg("name") = "pair",
                  nb::arg("docs") = "", nb::arg("numerics") = "exact", nb::arg("benefit") = 1, nb::arg("shared") = false,
                  nb::arg("sets") = "", nb::arg("attributes") = true, nb::arg("check") = nb::none(), nb::arg("make") = nb::none())
      .def_prop_ro("name", [](const PyRule& r) { return r.rule->name; })
      .def_prop_ro("docs", [](const PyRule& r) { return r.rule->docs; })
      .def_prop_ro("sets", [](const PyRule& r) { return r.rule->sets; })
      .def_prop_ro("seeds", [](const PyRule& r) { return r.rule->covered_patterns; })
      .def_prop_ro("numerics", [](const PyRule& r) { return std::string(rewrite::name_of(r.rule->numerics)); })
      .def_prop_ro("stage", &stage_of)
      .def_prop_ro("benefit", [](const PyRule& r) { return r.rule->benefit; })
      .def_prop_ro("shared", [](const PyRule& r) { return r.rule->allow_outside_uses; })
      .def_prop_ro("roots", &roots_of_rule)
      .def("__repr__", [](const PyRule& r) { return "<Rule " + r.rule->name + ">"; });
  m.def("select", &select, nb::arg("expression"));
  m.def("visits", &visits, nb::arg("match"));
}

}  // namespace tenon::python
