// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/onnx_support.h"
#include "import/onnx_tensor.h"
#include "import/onnx_types.h"
#include "ir/graph.h"

namespace tenon::import {

/// Data that GraphMaker collects for GraphUpgrader, for each graph (root or body).
struct ImportNotes {
  struct PerGraph {
    std::unordered_map<ir::NodeId, int> versions;                 ///< opset version of nodes whose op has changed since
    std::unordered_map<std::string_view, const OnnxType*> hints;  ///< declared types (value_info and outputs), by name
  };
  std::unordered_map<const ir::Graph*, PerGraph> graphs;
};

/// Attributes of a function call, by name.
using AttributeEnv = std::map<std::string_view, const OnnxAttribute*>;

/// The values by name that nodes of one graph, body or function expansion may use.
struct Scope {
  ir::Graph& graph;
  Scope* outer = nullptr;  ///< of a body: its enclosing scope. None for the root and for functions
  const std::vector<OnnxOpset>* opsets = nullptr;
  const AttributeEnv* env = nullptr;                        ///< in a function: its attributes
  std::string prefix;                                       ///< of names in a function expansion
  std::unordered_map<std::string_view, ir::ValueId> names;  ///< none id: a missing optional input of a function
  std::vector<ir::ValueId> captures;  ///< of a body: the values of outer.graph that it captures, one for each captured input
};

/// Builds the graph as it is in the file: nodes in the form of their opset, with types of inputs and constants only.
/// Functions are expanded unless their name is a known op; what bodies read from outside becomes captures, constants are shared.
class GraphMaker {
 public:
  /// The import options that affect this class.
  struct Choices {
    bool metadata = false;  ///< nodes keep their metadata_props (ir::Provenance), of which exporters write kilobytes a node
    bool weights_by_reference = false;
    bool freeze_defaults = false;
  };
  GraphMaker(const FunctionTable& functions, TypeReader& types, TensorReader& tensors, const OnnxLimits& limits, Choices choices)
      : functions_(functions), types_(types), tensors_(tensors), limits_(limits), choices_(choices) {}

  /// Errors: bad_graph, bad_attribute, limit_exceeded, and what tensors and types give; the place is the node.
  Result<void> make(const OnnxModel& model, ir::Graph& graph);
  ImportNotes& notes() { return notes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Whether the model has inputs with a default.
  bool has_defaults() const { return !defaulted_.empty(); }

 private:
  Result<void> fill(Scope& scope, const OnnxGraph& source, bool root);
  Result<void> initializers(Scope& scope, const OnnxGraph& source, bool root);
  Result<ir::ValueId> defaulted_input(Scope& scope, const OnnxValueInfo& input, ir::ConstantRef value, const std::string& where);
  Result<void> inputs(Scope& scope, const OnnxGraph& source, bool root);
  Result<void> nodes(Scope& scope, const std::vector<OnnxNode>& nodes);
  Result<void> node(Scope& scope, const OnnxNode& node);
  Result<void> insert(Scope& scope, const OnnxNode& node, const ir::Op& op);
  Result<void> insert_unknown(Scope& scope, const OnnxNode& node, const ir::Op& op);
  Result<void> metadata(Scope& scope, const OnnxNode& node, ir::NodeId id);
  Result<void> constant(Scope& scope, const OnnxNode& node);
  Result<void> expand(Scope& scope, const OnnxNode& node, const OnnxFunction& function);
  Result<void> bind(Scope& caller, Scope& inner, const OnnxNode& node, const OnnxFunction& function);
  using Bodies = std::vector<std::pair<std::string_view, const OnnxGraph*>>;
  struct NodeFields {
    ir::Attributes attributes;
    Bodies bodies;
  };
  Result<NodeFields> attributes(Scope& scope, const OnnxNode& node, int64_t version);
  Result<void> name_results(Scope& scope, const OnnxNode& node, ir::NodeId id);
  Result<void> attach(Scope& scope, ir::NodeId node, const Bodies& bodies, std::string_view where);
  Result<void> body(Scope& scope, ir::NodeId node, std::string_view name, const OnnxGraph& source);
  Result<ir::Attribute> attribute(const OnnxAttribute& source, std::string_view where);
  Result<std::vector<ir::ValueId>> operands(Scope& scope, const OnnxNode& node);
  /// The value of a name; none for a missing optional one. Errors: bad_graph where it is unknown.
  Result<ir::ValueId> find(Scope& scope, std::string_view name, std::string_view where);
  std::optional<ir::ValueId> lookup(Scope& scope, std::string_view name);
  Result<void> define(Scope& scope, std::string_view name, ir::ValueId value, std::string_view where);
  std::string fresh_name(const Scope& scope, std::string_view name) const;
  /// Counts values that expansion of functions makes. Errors: limit_exceeded.
  Result<void> count_expanded_values(size_t values, std::string_view where);

  const FunctionTable& functions_;
  TypeReader& types_;
  TensorReader& tensors_;
  OnnxLimits limits_;
  Choices choices_;
  ImportNotes notes_;
  std::vector<std::string> warnings_;
  std::unordered_map<std::string_view, const OnnxValueInfo*> defaulted_;  ///< inputs of the root with a default
  int64_t ir_version_ = 0;
  int64_t expanded_values_ = 0;              ///< values that expansion of functions has made
  int function_depth_ = 0, body_depth_ = 0;  ///< current nesting of function calls, and of bodies
};

}  // namespace tenon::import
