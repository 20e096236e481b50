// SPDX-License-Identifier: Apache-2.0
// Rules that belong together: read from a file, and made ready for use on many graphs.
#include "rewriting/rule_sets.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/plugins.h"
#include "files/mapped_file.h"
#include "ops/core/unknown.h"
#include "plugins/environment.h"
#include "rewrite/compile/rules_file.h"

namespace tenon::python {
namespace {

std::vector<rewrite::RulePtr> pointers(const std::vector<PyRule>& rules) {
  std::vector<rewrite::RulePtr> out;
  for (const PyRule& rule : rules) out.push_back(rule.rule);
  return out;
}

using Files = std::vector<std::filesystem::path>;

std::vector<PyRule> read(std::string_view text, const std::string& name, const Files& plugins) {
  const ir::OpTable& ops = *unwrap(compiler::load_plugins(with_environment(plugins))).ops;
  std::vector<PyRule> out;
  for (rewrite::RulePtr& rule : unwrap(rewrite::read_rules(text, name, ops))) out.push_back({std::move(rule)});
  return out;
}

std::vector<PyRule> read_file(const std::filesystem::path& path, const Files& plugins) {
  const auto file = unwrap(files::MappedFile::open(path));
  return read({reinterpret_cast<const char*>(file->bytes().data()), file->size()}, path.string(), plugins);
}

/// A text with one line that ends in .rules is taken for a path: rules hold "=>", and so end otherwise.
bool is_path(const std::string& text) { return text.ends_with(".rules") && text.find('\n') == std::string::npos; }

std::vector<PyRule> rules_from(nb::handle source, const std::string& name, const Files& plugins) {
  if (!nb::isinstance<nb::str>(source)) return read_file(nb::cast<std::filesystem::path>(source), plugins);
  const auto text = nb::cast<std::string>(source);
  return is_path(text) ? read_file(text, plugins) : read(text, name, plugins);
}

}  // namespace

rewrite::Numerics numerics_named(const std::string& name, const char* place) {
  for (auto n : {rewrite::Numerics::exact, rewrite::Numerics::reassociating, rewrite::Numerics::approximate})
    if (rewrite::name_of(n) == name) return n;
  raise(fail(Code::bad_usage, place, "no numerics class has this name").expected("exact, reassociating or approximate").found(name));
}

PyRuleSet::PyRuleSet(std::vector<PyRule> rules) : rules_(std::move(rules)), set_(pointers(rules_), ops::table_with_unknown_ops()) {}

PyRuleSet PyRuleSet::only(const std::vector<PyRule>& wanted) const {
  std::set<const rewrite::CompiledRule*> chosen;
  for (const PyRule& rule : wanted) chosen.insert(rule.rule.get());
  std::vector<PyRule> left;
  for (const PyRule& rule : rules_)
    if (chosen.contains(rule.rule.get())) left.push_back(rule);
  return {std::move(left), set_.where([&](const rewrite::CompiledRule& rule) { return chosen.contains(&rule); })};
}

const PyRule* PyRuleSet::first_in_python() const {
  const auto found = std::ranges::find_if(rules_, &PyRule::calls_python);
  return found == rules_.end() ? nullptr : &*found;
}

std::vector<PyRule> rules_of(nb::handle iterable) {
  std::vector<PyRule> out;
  for (nb::handle item : nb::iter(iterable)) {
    if (!nb::isinstance<PyRule>(item))
      raise(fail(Code::bad_usage, "rules", "this is no rule")
                .expected("tenon.rewriting.Rule")
                .found(nb::type_name(item.type()).c_str())
                .advice("select(\"default\") gives the rules of a set, rules_from(text) those of a file"));
    out.push_back(nb::cast<const PyRule&>(item));
  }
  return out;
}

RuleSetArgument::RuleSetArgument(nb::object rules) : given_(std::move(rules)) {
  if (!nb::isinstance<PyRuleSet>(given_)) made_.emplace(rules_of(given_));
  set_ = made_ ? &*made_ : nb::inst_ptr<PyRuleSet>(given_);
}

void bind_rule_sets(nb::module_& m) {
  nb::class_<PyRuleSet>(m, "RuleSet")
      .def(
          "__init__", [](PyRuleSet* self, nb::handle rules) { new (self) PyRuleSet(rules_of(rules)); }, nb::arg("rules"))
      .def(
          "only", [](const PyRuleSet& s, nb::handle rules) { return s.only(rules_of(rules)); }, nb::arg("rules"))
      .def_prop_ro("rules", [](const PyRuleSet& s) { return s.rules(); })
      .def_prop_ro("inactive", [](const PyRuleSet& s) { return s.get().inactive(); })
      .def("__len__", [](const PyRuleSet& s) { return s.rules().size(); })
      .def("__iter__", [](const PyRuleSet& s) { return nb::iter(nb::cast(s.rules())); })
      .def("__repr__", [](const PyRuleSet& s) { return "<RuleSet of " + std::to_string(s.rules().size()) + " rules>"; });
  m.def("rules_from", &rules_from, nb::arg("source"), nb::kw_only(), nb::arg("name") = "rules", nb::arg("plugins") = Files());
}

}  // namespace tenon::python
