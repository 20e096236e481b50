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
/// What is known of the elements of a small integer or bool value (bools as 0 and 1); at most kMaxShapeData of them.
using ShapeData = std::vector<Dim>;
inline constexpr size_t kMaxShapeData = 64;

/// One operand as an op sees it.
struct Operand {
  bool present = false;  ///< optional operands may be missing
  Type type;
  const Tensor* constant = nullptr;  ///< its value where known and small enough to look at (or already materialised)
  const ShapeData* data = nullptr;   ///< its elements where known symbolically (set for small constants too)
};

class Op;
class OpTable;

/// A node as its op sees it: all that inference, loop form, cost and reference may look at.
struct NodeView {
  const Op* op = nullptr;
  const OpTable* ops = nullptr;  ///< of the node's graph
  std::string_view name;         ///< for messages
  const Attributes* attributes = nullptr;
  std::vector<Operand> inputs;  ///< explicit operands, then captures
  size_t explicit_inputs = 0;   ///< how many of the inputs are no captures
  std::vector<const Graph*> bodies;
  std::vector<std::string_view> body_names;  ///< "then_branch", ...: one a body
  std::vector<size_t> body_captures;         ///< how many of the last inputs of each body are captures
  Symbols* symbols = nullptr;                ///< for fresh data-dependent sizes
  Assumptions* assumptions = nullptr;        ///< where inference notes what it takes for granted; null: not collected
  std::vector<Type> outputs;                 ///< in: one a result; out of inference: filled
  std::vector<ShapeData> output_data;        ///< out of inference: empty where not known

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

/// The abstract table of ops: what the graph needs of an op, independent of its definition.
class Op {
 public:
  virtual ~Op() = default;
  std::string domain;  ///< "" is ai.onnx
  std::string name;
  int since_version = 1;
  int min_inputs = 0, max_inputs = 0;    ///< max -1: variadic
  int min_outputs = 1, max_outputs = 1;  ///< max -1: variadic
  bool commutative = false;              ///< its first two operands may change places
  bool deterministic = true;             ///< equal operands and attributes give equal results
  bool has_effects = false;
  bool unknown = false;  ///< only a name: its results have declared types, and no backend of Tenon's computes them
  /// How many results a new node has (its view has none yet) where attributes, constant operands or bodies say so; else the least.
  virtual size_t result_count(const NodeView& /*view*/) const { return static_cast<size_t>(min_outputs); }
  /// Types that the formal inputs of body `body` have, where the node's operands settle them (Loop, Scan); an input left out or with
  /// dtype none keeps its declared type. Called again after the body was inferred (view.bodies then have its outputs), so
  /// that carried values whose shape changes can be widened, until the answer stays the same.
  virtual std::vector<Type> infer_body_inputs(const NodeView& /*view*/, size_t /*body*/) const { return {}; }
  /// Fills view.outputs (and output_data). Errors: whatever makes the node illegal.
  virtual Result<void> infer(NodeView& view) const = 0;
};

class OpTable {
 public:
  virtual ~OpTable() = default;
  /// nullptr where the op is not known.
  virtual const Op* find(std::string_view domain, std::string_view name) const = 0;
};

}  // namespace tenon::ir
