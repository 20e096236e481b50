// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <string>

#include "compiler/options/scalar_options.h"
#include "partition/constraints.h"

namespace tenon::compiler {

/// The options on which the code of an engine depends, but for the backends and the plugins that are given.
struct CodeOptions : ScalarOptions {
  /// Names of passes that do not run: of the graph (passes::pipeline), of planning (codegen::plan_passes).
  std::set<std::string, std::less<>> off;
  partition::Constraints constraints;  ///< which backend runs what
};

}  // namespace tenon::compiler
