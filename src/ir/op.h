// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ir/attribute.h"
#include "ir/type.h"

namespace tenon::ir {

class Graph;
class Assumptions;
/// The known elements of a small integer or bool value as sizes (bools as 0 and 1); at most kMaxShapeData of them.
using ShapeData = std::vector<Dim>;
inline constexpr size_t kMaxShapeData = 64;

/// One operand of a NodeView.
struct Operand {
  bool present = false;  ///< false: an optional operand that is missing
  Type type;
  const Tensor* constant = nullptr;  ///< its value, where known and small or already materialised
  const ShapeData* data = nullptr;   ///< its elements as symbolic sizes, where known (small constants too)
};

class Op;
class OpTable;

/// A node with the types and known values of its operands: the input of inference, loop forms, costs and reference functions.
struct NodeView {
  const Op* op = nullptr;
  const OpTable* ops = nullptr;  ///< of the node's graph
  std::string_view name;         ///< for messages
  const Attributes* attributes = nullptr;
  std::vector<Operand> inputs;  ///< explicit operands, then captures
  size_t explicit_inputs = 0;   ///< inputs beyond these are captures
  std::vector<const Graph*> bodies;
  std::vector<std::string_view> body_names;  ///< "then_branch", ...: one per body
  std::vector<size_t> body_captures;         ///< per body: the number of its last inputs that are captures
  Symbols* symbols = nullptr;                ///< for fresh data-dependent sizes
  Assumptions* assumptions = nullptr;        ///< where inference adds its assumptions; null: they are not collected
  std::vector<Type> outputs;                 ///< one per result; filled by inference
  std::vector<ShapeData> output_data;        ///< filled by inference: empty where not known

  bool has(size_t input) const { return input < inputs.size() && inputs[input].present; }
  const Type& type(size_t input) const { return inputs[input].type; }
  int rank(size_t input) const { return inputs[input].type.rank(); }
  /// "node 'name' (Gather)"
  std::string where() const;
  /// Attribute `name`, else the constant elements of operand `input`; nullopt where neither is known.
  std::optional<Ints> ints(std::string_view attribute, int input = -1) const;
  /// Elements of operand `input` as dims: shape data or integer constant.
  std::optional<ShapeData> dims(size_t input) const;
};

/// The interface of an op that graphs use, independent of its definition.
class Op {
 public:
  virtual ~Op() = default;
  std::string domain;  ///< "" is ai.onnx
  std::string name;
  int since_version = 1;
  int min_inputs = 0, max_inputs = 0;    ///< max -1: variadic
  int min_outputs = 1, max_outputs = 1;  ///< max -1: variadic
  bool commutative = false;              ///< its first two operands may be swapped
  bool deterministic = true;             ///< equal operands and attributes give equal results
  bool has_effects = false;
  bool unknown = false;  ///< not in the op table: its results have declared types, and none of Tenon's own backends computes it
  /// The number of results of a new node (its view has none yet), from attributes, constant operands or bodies; else the minimum.
  virtual size_t result_count(const NodeView& /*view*/) const { return static_cast<size_t>(min_outputs); }
  /// The types of the formal inputs of body `body` that follow from the node's operands (Loop, Scan); an input that is missing or has dtype
  /// none keeps its declared type. Called again after inference of the body (view.bodies then have its outputs) until the types no longer
  /// change, so that loop-carried values whose shape changes get a wider type.
  virtual std::vector<Type> body_input_types(const NodeView& /*view*/, size_t /*body*/) const { return {}; }
  /// Fills view.outputs (and output_data). Errors: those of an invalid node.
  virtual Result<void> infer(NodeView& view) const = 0;
};

/// Finds ops by domain and name.
class OpTable {
 public:
  virtual ~OpTable() = default;
  /// nullptr: no such op.
  virtual const Op* find(std::string_view domain, std::string_view name) const = 0;
};

}  // namespace tenon::ir
