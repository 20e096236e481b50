// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "ops/versions/onnx_schema.h"

namespace tenon::import {

/// Names of one graph's values in the file; bodies may use names of the enclosing graphs.
struct NameScope {
  NameScope* outer = nullptr;
  std::unordered_set<std::string>* used = nullptr;  ///< of the whole model, or of one function
  std::unordered_map<ir::ValueId, std::string> names;
  std::unordered_map<const ir::Constant*, std::string> constants;  ///< names of constants that are written in this graph
  std::vector<ir::ValueId> own_constants = {};       ///< values of this graph whose constants are written here, each constant once
  std::unordered_map<uint32_t, std::string> copies;  ///< by output slot: the name of the Identity that copies a value of another name
  bool function = false;                             ///< a FunctionProto: it has no initializers, so constants become Constant nodes
};

/// An initializer of the root graph, written after the nodes: a constant that the root reads, or a large one that bodies read (as an
/// initializer of the root it is written once and may be external).
struct Weight {
  std::string name;
  ir::ConstantRef constant;
};

/// The opset to write. fixed: it was requested; else a higher one is used where a node needs it and no function can express the node.
struct TargetOpset {
  int64_t version;
  bool fixed;
  int64_t raise_to = 0;  ///< up to this opset, a higher one is preferred to a function
};

/// Weights of this many bytes and more may go to a data file.
constexpr int64_t kExternalThreshold = 1024;

/// Writes the protobuf of a graph at one opset, without its weights. Where the target cannot express a node, `needed` becomes higher than
/// the target, and the output must not be used.
class ExportWriter {
 public:
  ExportWriter(TargetOpset target, bool value_info) : target_(target), value_info_(value_info) {}

  /// Writes the graph, which lower_to_opset() has rewritten for the opset, except its fused ops.
  Result<void> write(const ir::Graph& graph);

  std::string graph;  ///< fields of GraphProto, initializers left out
  std::vector<Weight> weights;
  std::vector<std::string> functions;      ///< FunctionProto messages
  std::map<std::string, int64_t> domains;  ///< other domains that are used, and their version
  int64_t needed = 0;                      ///< lowest opset that can express all nodes so far
  bool overloads = false;                  ///< a function has several overloads, which require IR version 10

 private:
  Result<std::string> graph_message(const ir::Graph& graph, NameScope& scope, size_t formals, bool root);
  Result<void> nodes(std::string& out, uint32_t field, const ir::Graph& graph, NameScope& scope);
  Result<std::string> node_message(const ir::Graph& graph, ir::NodeId id, NameScope& scope);
  std::string node_name(const std::string& wanted);
  std::string result_name(const ir::Node& node, size_t index, NameScope& scope);
  /// The version of the op in which the node is written; null for calls and for ops whose schema is not known.
  const ops::OnnxSchema* schema_of(const ir::Node& node, bool called);
  Result<void> check_versions() const;
  Result<std::string> body_message(const ir::Graph& graph, const ir::Node& node, const ir::Body& body, NameScope& scope);
  Result<void> constants(std::string& out, const ir::Graph& graph, NameScope& scope, bool root);
  /// An output that goes through an Identity: the opset must have that of its type.
  Result<void> check_copy(const ir::Type& type, const std::string& name);
  Result<std::vector<std::string>> outputs(std::string& out, uint32_t node_field, const ir::Graph& graph, NameScope& scope, bool root);
  void name_values(const ir::Graph& graph, NameScope& scope, size_t formals);
  void name_constant(const ir::Graph& graph, ir::ValueId id, NameScope& scope);
  /// The version of a domain that the source imported; 1 where it did not.
  int64_t imported(std::string_view domain) const;
  std::string unique(NameScope& scope, const std::string& wanted);

  /// A call of a function of the model.
  struct Call {
    std::string domain, name, overload;
    size_t results = 0;  ///< number of the function's results: ONNX Runtime refuses calls with fewer
  };
  /// The function that expresses a fused node, written on first use.
  Result<Call> call(const ir::Graph& graph, ir::NodeId id);
  Result<std::string> definition(const ir::Graph& graph, ir::NodeId id, size_t& results);

  TargetOpset target_;
  bool value_info_;
  std::vector<std::pair<std::string, int64_t>> source_opsets_;
  int depth_ = 0;                                          ///< of functions in functions
  std::map<const ops::OnnxSchema*, std::string> written_;  ///< by op version: the first node that uses it
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, int> name_counts_;                        ///< of names shared by several nodes
  std::map<std::pair<std::string, std::string>, std::string> overload_of_;  ///< (domain::name, body) -> overload
  std::map<std::string, int> variants_;                                     ///< by domain::name: the number of overloads written
};

/// Whether a node is written as a call of a function: a fused op that ONNX lacks at this opset.
bool is_function_call(const ir::Graph& graph, ir::NodeId node, TargetOpset target);
/// "node 'name' (Op)": the first node, in bodies too, that the target opset cannot express; empty where there is none.
std::string first_inexpressible_node(const ir::Graph& graph, TargetOpset target);
inline constexpr int64_t kNoOpset = INT64_MAX;
/// The lowest opset that can express the node (0 for other domains; kNoOpset where none has the op with these element types).
int64_t lowest_opset(const ir::Graph& graph, ir::NodeId node);
/// Rewrites every node, in bodies too, to its form at the target opset. Returns the lowest opset that can express all nodes: where it is
/// above the target, the graph is only partly rewritten and must not be used.
Result<int64_t> lower_to_opset(ir::Graph& graph, TargetOpset target);

}  // namespace tenon::import
