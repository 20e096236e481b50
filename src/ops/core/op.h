// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/tensor.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/op.h"
#include "ops/core/host_kernel.h"
#include "ops/core/loop.h"
#include "ops/core/string_list.h"

namespace tenon::ops {

using ir::NodeView;

/// The arguments of one call of an op's reference function. Inputs are in the order of the node; a missing optional one is nullptr.
struct Call {
  const NodeView& view;  ///< types as declared; constants attached
  std::span<const Tensor* const> in;
  std::vector<Tensor>& out;  ///< one slot a result
  bool wide = false;         ///< floating tensors are f64, whatever dtype is declared
  int64_t byte_limit;        ///< of one result
  RandomScope random = {};   ///< seed and position of the random numbers that the node draws

  bool has(size_t input) const { return input < in.size() && in[input] != nullptr; }
  /// dtype that result `index` is stored in: the inferred one, f64 for floats in wide mode.
  DType out_dtype(size_t index) const;
  /// Allocates result `index`. Errors: size_overflow, out_of_memory, limit_exceeded.
  Result<Tensor*> make(size_t index, Sizes shape);
  /// Evaluates body `index` of the node on the given tensors (formal inputs, then captures), in the same mode. iteration: its number in a
  /// loop; each iteration draws random numbers of its own.
  Result<std::vector<Tensor>> run_body(size_t index, std::vector<Tensor> inputs, std::optional<int64_t> iteration = {}) const;
};

/// How an op runs its bodies where they are compiled to programs: `branch` runs one of them, `loop` iterates one.
enum class Control : uint8_t { none, branch, loop };

/// A family of hand-built kernels that implements an op as a whole, where its case fits, instead of kernels made from its loop form.
enum class KernelFamily : uint8_t { none, attention, ragged_attention, packed_rows };

/// The neighbour that must be placed on the same backend as a node of the op: the only consumer of its result (DequantizeLinear), or the
/// producer of operand 0, where the node is its only consumer (QuantizeLinear).
enum class PlacedWith : uint8_t { none, consumer, producer };

/// The results of a node as lazy constants (ir/constant.h) over its constant operands; nullopt: the case has no such form.
using Folded = std::optional<std::vector<ir::ConstantRef>>;

/// The definition of one op, complete. Those of the library are constant-initialised; functions may be null where the comment says so.
struct OpDef {
  std::string_view name;  ///< ONNX name
  std::string_view domain = "";
  int since_version = 1;  ///< the newest version of the op in ONNX (its `since_version`): the one that all functions below implement
  /// Operand names: "data", "axes?" (optional), "inputs*" (variadic, last).
  StringList inputs = {};
  StringList outputs = {.array = literals<"output">};
  /// "axis: int = -1", "perm: ints", "mode: string = constant", "to: int", "value: tensor", "body: graph", "alpha: float = 1.0".
  /// An attribute that is not listed is refused by name.
  StringList attributes = {};
  bool commutative = false;   ///< operands 0 and 1 may be exchanged
  bool deterministic = true;  ///< equal operands and attributes give equal results
  /// The bool operand that makes nodes of an else deterministic op draw random numbers where it is true (training_mode of Dropout); -1:
  /// there is none.
  int random_switch_operand = -1;
  bool has_effects = false;  ///< a node may not be removed, though its results are not used
  /// Operands may be sequences, optionals and maps; `infer` checks which. All other ops refuse them; captures of bodies are not checked.
  bool accepts_containers = false;
  /// Result 0 has the bytes of operand 0 in their order (Reshape, Squeeze, Identity, ...): a backend may let both share one buffer.
  bool same_bytes = false;
  /// Results depend on the bit patterns of float operands (BitCast): a cast of an operand to another precision changes them.
  bool reads_bits = false;
  /// Results consist of elements of the operands, or of positions of elements, chosen by comparisons alone (TopK, Unique): they are the
  /// same in any type that keeps every element. For ops without `loop_form`, which shows it otherwise (see same_in_wider).
  bool keeps_elements = false;
  /// `infer` reads the types of the bodies, whose sizes are symbols of the graph: the evaluator cannot infer the node with numbers as
  /// sizes.
  bool reads_body_types = false;
  /// `infer` checks attributes against the schema itself and reports all errors at once.
  bool checks_attributes = false;
  Control control = Control::none;
  KernelFamily kernel_family = KernelFamily::none;
  PlacedWith placed_with = PlacedWith::none;
  /// State of an op that is defined at run time (a plugin's): its functions have no captures, so they read `def_of(*view.op).user_data`.
  /// Outlives the table, and is not written to: functions run on several threads. null in the library.
  const void* user_data = nullptr;

  /// Types, shapes and (for integer and bool results) shape data of the results.
  Result<void> (*infer)(NodeView& view) = nullptr;
  /// How many results a new node has where that is not the least number, see ir::Op. null: the least.
  size_t (*result_count)(const NodeView& view) = nullptr;
  /// Types of the formal inputs of body `body`, see ir::Op. null: the operands determine none of them.
  std::vector<ir::Type> (*body_input_types)(const NodeView& view, size_t body) = nullptr;
  /// What the op computes, as loops of loads and expressions. null: opaque, or a fused op (see definition). May refuse a case by returning
  /// not_supported.
  Result<LoopForm> (*loop_form)(const NodeView& view) = nullptr;
  /// Constant folding without arithmetic: the results as slices, permutations, reshapes, concatenations, casts or scalings of constant
  /// operands, where such a form is exact. `in`: one an operand, null where it is missing. Reads no bytes but those of small operands
  /// (axes, sizes). null: no case has such a form.
  Folded (*fold)(const NodeView& view, std::span<const ir::ConstantRef> in) = nullptr;
  /// Plain, slow, checked; shares no code with `loop_form`. null only for fused ops: then the definition is evaluated.
  Result<void> (*reference)(Call& call) = nullptr;
  /// A kernel in plain C++ for an opaque op, see HostKernel; shares no code with `reference` that decides what it computes. null: where
  /// the op has no loop form, its reference function runs.
  Result<std::unique_ptr<const HostKernel>> (*host_kernel)(const NodeView& view) = nullptr;
  /// A fused op in plain ops: builds them and returns the results; empty, without an error: this case has no definition. The builder holds
  /// the first error.
  std::vector<ir::ValueId> (*definition)(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs) = nullptr;
  /// Converts a node of the version that `opset` means (attributes and operands as read) to `since_version`; may insert nodes around it.
  /// null: older nodes are valid as they are.
  Result<void> (*upgrade)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// The lowest opset that can express this node (>= first_opset). null: first_opset.
  int (*lowest_opset)(const NodeView& view) = nullptr;
  int first_opset = 7;  ///< the opset that introduced the op; 7, the oldest that export writes, where it is older
  /// Converts the node to the version that `opset` means (attributes instead of operands, ...). Called with lowest_opset <= opset <
  /// since_version.
  Result<void> (*downgrade)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// Rewrites a node that is valid in `opset` so that it relies on no default or rule that readers of the file (ONNX Runtime, older
  /// versions) interpret differently; may insert nodes before it. null: nothing but negative axes (versions/make_explicit.h).
  Result<void> (*make_explicit)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// Cases that all tests of ops run: "f32[2,3], i64[2] = [1, 0], _; axis=1, outputs=2". `f32[3] in 0.1..5` bounds random values.
  StringList samples = {};
};

/// Defines the op of the file `IDENT.cpp` inside `namespace tenon::ops::op_IDENT`; the build lists the folder, so the file's existence is
/// the registration, and compiles several files as one, so each has a namespace of its own.
#define OP(IDENT)                              \
  extern const ::tenon::ops::OpDef op_##IDENT; \
  constinit const ::tenon::ops::OpDef op_##IDENT

/// All ops of the library, sorted by file name.
std::span<const OpDef* const> all_ops();
/// The table of these ops.
const ir::OpTable& table();
/// The library's ops and `others`, which are defined at run time and outlive the table. Errors: bad_usage where two ops have one name.
Result<std::unique_ptr<ir::OpTable>> table_with(std::span<const OpDef* const> others);
/// The definition of an op; asserts that the op is from a table of this floor (a DefinedOp).
const OpDef& def_of(const ir::Op& op);

/// Expands a fused op's definition in place of the node; the node is erased.
Result<void> expand(ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::ops
