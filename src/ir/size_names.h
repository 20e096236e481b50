// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"

namespace tenon::ir {

/// Renames symbols of data-dependent sizes to declared names. A name that the graph uses already is skipped, since it would make two sizes
/// equal.
class SizeNames {
 public:
  explicit SizeNames(Graph& graph);
  /// Declares a name for a size, which is ignored unless the size is a symbol of no input; the first name of a symbol counts.
  void declare(Dim size, std::string_view name);
  /// Renames the symbols, in bodies too. Cost: one walk over the graph where there are names.
  void apply();

 private:
  Graph& graph_;
  std::unordered_set<const DimNode*> input_symbols_;
  std::unordered_map<const DimNode*, Dim> new_names_;
  std::unordered_set<std::string> used_names_;
};

}  // namespace tenon::ir
