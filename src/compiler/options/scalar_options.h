// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <string>

#include "codegen/precision.h"
#include "compiler/options/option_table.h"

namespace tenon::compiler {

/// The compile options whose values the compiler reads without further parsing; field names are those of the option table.
struct ScalarOptions {
#define TENON_SCALAR_OPTION(TYPE, NAME, DEFAULT) TYPE NAME = DEFAULT;
#include "tenon/compile_options.inc"
};

/// Calls visit(row, value) for each of them.
template <class Visit>
void for_each_scalar(ScalarOptions& options, Visit visit) {
#define TENON_SCALAR_OPTION(TYPE, NAME, DEFAULT) visit(option_row(#NAME), options.NAME);
#include "tenon/compile_options.inc"
}

/// The passes that these options turn off, by name.
inline std::set<std::string, std::less<>> disabled_passes(const ScalarOptions& options) {
  std::set<std::string, std::less<>> out;
#define TENON_PASS_OPTION(NAME) \
  if (!options.NAME) out.emplace(#NAME);
#include "tenon/compile_options.inc"
  return out;
}

}  // namespace tenon::compiler
