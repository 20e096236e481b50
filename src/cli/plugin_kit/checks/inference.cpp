// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/plugin_kit/checks/checks.h"
#include "ops/definition/infer_by_definition.h"

namespace tenon::cli {

namespace {

/// Whether two types are compatible: no known part contradicts the other type.
bool agree(const ir::Type& a, const ir::Type& b) {
  if (a.dtype != b.dtype) return false;
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (size_t axis = 0; axis < a.shape->size(); ++axis)
    if ((*a.shape)[axis].equals((*b.shape)[axis]) == false) return false;
  return true;
}

void against_definition(Trial& trial, const PluginCase& at) {
  ir::NodeView view = at.view();
  if (const auto done = ops::infer_by_definition(view); !done) {
    if (at.is_as_given) trial.report(at, "its definition does not take what `infer` takes", done.error());
    return;
  }
  for (size_t k = 0; k < at.results.size(); ++k)
    if (!agree(at.results[k], view.outputs[k]))
      trial.report(at, fmt::format("result {} is {} by `infer` and {} by the definition", k, at.results[k].text(), view.outputs[k].text()));
}

int64_t number_after_n(std::string_view symbol) {
  int64_t out = 0;
  std::from_chars(symbol.data() + 1, symbol.data() + symbol.size(), out);
  return out;
}

/// The type with each symbol "n7" as 7; data-dependent sizes stay.
std::optional<ir::Type> with_numbers(const ir::Type& type, Symbols& symbols) {
  if (!type.has_rank()) return std::nullopt;
  DimList shape;
  for (Dim d : *type.shape)
    shape.push_back(substitute(d, [&](const DimNode& s) {
      return s.name.starts_with('n') ? Dim(number_after_n(s.name)) : symbols.symbol(s.name, s.lower, s.upper);
    }));
  return ir::Type(type.dtype, std::move(shape));
}

void by_symbols(Trial& trial, const PluginCase& at) {
  auto symbolic = make_case(trial.plugin, at.sample, 1, true);
  if (!symbolic) return;  // a plugin may need numbers
  for (size_t k = 0; k < at.results.size(); ++k) {
    const auto type = with_numbers(symbolic->results[k], at.made.graph->symbols());
    if (!type || type->is_static() != at.results[k].is_static() || agree(*type, at.results[k])) continue;
    trial.report(at, fmt::format("result {} is {} by numbers and {} by symbols, which is {} here", k, at.results[k].text(),
                                 symbolic->results[k].text(), type->text()));
  }
}

}  // namespace

void check_inference(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    if (trial.op().has_definition() && trial.op().table.infer) against_definition(trial, at);
    by_symbols(trial, at);
  }
}

}  // namespace tenon::cli
