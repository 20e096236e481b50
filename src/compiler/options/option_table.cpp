// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/option_table.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/result.h"

namespace tenon::compiler {

namespace {

constexpr OptionRow kOptionRows[] = {
#define TENON_OPTION_ROW(...) {__VA_ARGS__},
#include "tenon/compile_options.inc"
};

}  // namespace

std::span<const OptionRow> option_rows() { return kOptionRows; }

const OptionRow& option_row(std::string_view name) {
  const OptionRow* const found = std::ranges::find(kOptionRows, name, &OptionRow::name);
  TENON_ASSERT(found != std::end(kOptionRows));
  return *found;
}

std::vector<std::string> choices_of(const OptionRow& row) {
  std::vector<std::string> out;
  for (const auto& name : row.choices | std::views::split(' ')) out.emplace_back(name.begin(), name.end());
  return out;
}

std::string bounds_of(const OptionRow& row) {
  if (!row.least) return std::to_string(*row.most) + " or less";
  return std::to_string(*row.least) + (row.most ? " to " + std::to_string(*row.most) : " or more");
}

}  // namespace tenon::compiler
