// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "import/onnx_model.h"
#include "ir/op.h"

namespace tenon::import {

/// The model's local functions by domain, name and overload.
class FunctionTable {
 public:
  /// Errors: bad_graph where two have one name.
  Result<void> fill(const OnnxModel& model);
  /// The function that a node calls; null where it calls none.
  const OnnxFunction* find(const OnnxNode& node) const;

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const OnnxFunction*> functions_;
};

/// The op of a node: from the table, or an unknown op where the model defines no function for it. The attributes plugin_namespace and
/// plugin_version name an op of a plugin whatever the domain; an older version is NAME$VERSION in the table. nullptr: a call of
/// a function, or no such op.
const ir::Op* op_of(const OnnxNode& node, const ir::OpTable& ops, const FunctionTable& functions);

/// Version of `domain` among `opsets`; 0 where it is not imported.
int64_t opset_of(const std::vector<OnnxOpset>& opsets, std::string_view domain);

/// Checks that every node, in bodies and in the functions that are called, is an op of the table, a Constant or a call of a local function.
/// Errors: not_supported, one for all ops that are missing, with counts; not_supported for opsets below the oldest.
/// Returns: warnings (versions newer than known).
Result<std::vector<std::string>> check_support(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops,
                                               std::string_view file);

/// An op's name with its domain, unless that is the default one: "Add", "com.microsoft::Gelu".
std::string qualified(std::string_view domain, std::string_view name);

}  // namespace tenon::import
