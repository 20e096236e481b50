// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/filters.h"

#include <algorithm>
#include <vector>

#include "base/nearest.h"

namespace tenon::llm::jinja {
namespace {

constexpr std::string_view kMissing[] = {"filesizeformat", "groupby", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr"};

const Builtin* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), number_filters(), sequence_filters(), order_filters(), selection_filters()})
    if (const Builtin* filter = find_builtin(table, name)) return filter;
  return nullptr;
}

bool is_missing(std::string_view name) { return std::ranges::find(kMissing, name) != std::end(kMissing); }

}  // namespace

bool is_filter(std::string_view name) { return find_filter(name) || is_missing(name); }

std::string nearest_filter(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto table : {text_filters(), number_filters(), sequence_filters(), order_filters(), selection_filters()})
    for (const Builtin& filter : table) names.push_back(filter.name);
  return did_you_mean(name, names);
}

Result<Value> apply_filter(RenderState& state, std::string_view name, const Value& value, Arguments arguments) {
  if (const Builtin* filter = find_filter(name)) return (*filter)(state, value, arguments);
  if (is_missing(name)) return fail(Code::not_supported, "", "not supported yet: the filter '" + std::string(name) + "' in templates");
  return run_error("unknown filter").found("'" + std::string(name) + "'").advice(nearest_filter(name));
}

}  // namespace tenon::llm::jinja
