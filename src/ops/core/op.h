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
#include "ops/core/names.h"

namespace tenon::ops {

using ir::NodeView;

/// One evaluation by reference. Inputs are in the order of the node; a missing optional one is nullptr.
struct Call {
  const NodeView& view;  ///< types as declared; constants attached
  std::span<const Tensor* const> in;
  std::vector<Tensor>& out;  ///< one slot a result
  bool wide = false;         ///< floating tensors are f64 whatever was declared
  int64_t byte_limit;        ///< of one result
  RandomScope random = {};   ///< what it draws depends on

  bool has(size_t input) const { return input < in.size() && in[input] != nullptr; }
  /// dtype that result `index` is stored in: the inferred one, f64 for floats in wide mode.
  DType out_dtype(size_t index) const;
  /// Allocates result `index`. Errors: size_overflow, out_of_memory, limit_exceeded.
  Result<Tensor*> make(size_t index, Sizes shape);
  /// Evaluates body `index` of the node on the given tensors (formal inputs, then captures), in the same mode. iteration: of a loop;
  /// each draws random numbers of its own.
  Result<std::vector<Tensor>> run_body(size_t index, std::vector<Tensor> inputs, std::optional<int64_t> iteration = {}) const;
};

/// How an op uses its bodies, where they run as programs: it runs one of them, or iterates one.
enum class Control : uint8_t { none, branch, loop };

/// A family of kernels that is made for an op as a whole, where its case fits, instead of from loops.
enum class KernelFamily : uint8_t { none, attention, ragged_attention, packed_rows };

/// Whom a backend must run too that runs a node of the op: who alone reads its result, or who makes operand 0 for it alone.
enum class KeptWith : uint8_t { none, reader, maker };

/// The results of a node as lazy expressions over its constant operands.
using Folded = std::optional<std::vector<ir::ConstantRef>>;

/// One op, complete. Those of the library are constant-initialised; functions may be null where the comment says so.
struct OpDef {
  std::string_view name;  ///< ONNX name
  std::string_view domain = "";
  int since = 1;  ///< newest version of the op that this file speaks
  /// Operand names: "data", "axes?" (optional), "inputs*" (variadic, last).
  Names inputs = {};
  Names outputs = {.made = names<"output">};
  /// "axis: int = -1", "perm: ints", "mode: string = constant", "to: int", "value: tensor", "body: graph", "alpha: float = 1.0".
  /// An attribute that is not listed is refused by name.
  Names attributes = {};
  bool commutative = false;
  bool deterministic = true;
  /// The operand that makes nodes of an op that is else deterministic draw random numbers, where it is true; -1: there is none.
  int random_where = -1;
  bool effects = false;
  /// Operands may be sequences and optionals, which `infer` distinguishes. All other ops refuse them (what a body captures is the body's).
  bool any_kind = false;
  /// Result 0 has the bytes of operand 0 in their order (Reshape, Squeeze, Identity, ...): a backend may let both share one buffer.
  bool same_bytes = false;
  /// The bits of floats decide: in another precision they say something else.
  bool reads_bits = false;
  /// Its results are elements of its operands, or places among them, by their order: the same in any type that keeps every element. Of ops
  /// without `form`, which says it otherwise (same_in_wider).
  bool keeps_elements = false;
  /// `infer` goes by the types of the bodies, which speak of the graph's symbols.
  bool reads_body_types = false;
  /// `infer` checks attributes against the schema itself and reports all errors at once.
  bool checks_attributes = false;
  Control control = Control::none;
  KernelFamily kernels = KernelFamily::none;
  KeptWith kept_with = KeptWith::none;
  /// What the functions of an op read that comes at run time: a function has no captures, so it reads `def_of(*view.op).self`. Outlives the
  /// table, and is not written to: functions run on several threads. null in the library.
  const void* self = nullptr;

  /// Types, shapes and (for integer and bool results) shape data of the results.
  Result<void> (*infer)(NodeView& view) = nullptr;
  /// How many results a new node has where that is not the least number, see ir::Op. null: the least.
  size_t (*results)(const NodeView& view) = nullptr;
  /// Types of the formal inputs of body `body`, see ir::Op. null: none are settled by the operands.
  std::vector<ir::Type> (*body_inputs)(const NodeView& view, size_t body) = nullptr;
  /// What it computes. null: opaque, or a fused op (see definition). May refuse a case by returning not_supported.
  Result<LoopForm> (*form)(const NodeView& view) = nullptr;
  /// The results where all operands are constant and slice, permute, reshape, concat, cast or scale say them exactly. `in`: one an operand,
  /// null where it is missing. Reads no bytes but those of small operands (axes, sizes). null: no case can be said so.
  Folded (*fold)(const NodeView& view, std::span<const ir::ConstantRef> in) = nullptr;
  /// Plain, slow, checked; shares no code with `form`. null only for fused ops: then the definition is evaluated.
  Result<void> (*reference)(Call& call) = nullptr;
  /// A kernel in plain C++ for an opaque op, see HostKernel; shares no code with `reference` that decides what it computes. null: where
  /// the op has no loop form, its reference function runs.
  Result<std::unique_ptr<const HostKernel>> (*host_kernel)(const NodeView& view) = nullptr;
  /// A fused op in plain ops: builds them and returns the results. The builder holds the first error.
  std::vector<ir::ValueId> (*definition)(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> inputs) = nullptr;
  /// Brings a node of the op's version in `opset` (attributes and operands as read) to the newest form; may insert nodes around it.
  /// null: every version has the newest form.
  Result<void> (*upgrade)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// Lowest opset that can say this node (>= the op's first version). null: `first`.
  int (*lowest_opset)(const NodeView& view) = nullptr;
  int first = 7;  ///< lowest opset that an export writes it in
  /// Rewrites the node to the form of `opset` (attributes instead of operands, ...). Called with lowest_opset <= opset < since.
  Result<void> (*downgrade)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// Brings a node that has the form of `opset` into the spelling that all readers take alike, where the schema allows more than one; may
  /// insert nodes before it. null: there is one, but for axes (versions/write_explicitly.h).
  Result<void> (*spell_out)(ir::Graph& graph, ir::NodeId node, int opset) = nullptr;
  /// Cases for every judge: "f32[2,3], i64[2] = [1, 0], _; axis=1, outputs=2". `f32[3] in 0.1..5` bounds random values.
  Names samples = {};
};

/// Defines the op of the file `IDENT.cpp` inside `namespace tenon::ops::op_IDENT`; the build lists the folder, so the file's existence is
/// the registration, and compiles several files as one, so each has a namespace of its own.
#define OP(IDENT)                              \
  extern const ::tenon::ops::OpDef op_##IDENT; \
  constinit const ::tenon::ops::OpDef op_##IDENT

/// All ops, sorted by file name.
std::span<const OpDef* const> all_ops();
/// The table of these.
const ir::OpTable& table();
/// A table of these and of others that come at run time and outlive it. Errors: bad_usage where an op has a name that another one has.
Result<std::unique_ptr<ir::OpTable>> table_with(std::span<const OpDef* const> others);
/// The definition of a node's op; asserts that the op came from such a table.
const OpDef& def_of(const ir::Op& op);

/// Expands a fused op's definition in place of the node; the node is erased.
Result<void> expand(ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::ops
