// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"

namespace tenon::ir {

/// Names for data-dependent sizes, as somebody declares them. Nothing is claimed of a size: a name that the graph has already, which
/// would make two sizes one, is not given.
class SizeNames {
 public:
  explicit SizeNames(Graph& graph);
  /// `name` is that of `size`, where that is a symbol of no input; the first name counts.
  void declare(Dim size, std::string_view name);
  /// Gives the names, in bodies too. Cost: one walk where there are any.
  void give();

 private:
  Graph& graph_;
  std::unordered_set<const DimNode*> of_inputs_;
  std::unordered_map<const DimNode*, Dim> named_;
  std::unordered_set<std::string> taken_;
};

}  // namespace tenon::ir
