// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dim/dim.h"
#include "base/expr/expr.h"
#include "codegen/plan_limits.h"
#include "codegen/precision.h"
#include "ir/graph.h"
#include "ir/segment.h"
#include "ir/state.h"
#include "ops/attention/scores.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// Index into Plan::arrays.
using ArrayId = int32_t;

/// Padding stored around the array. Valid indices in dimension k run from -before[k] to shape[k] + after[k] - 1.
struct Halo {
  Sizes before, after;  ///< elements of padding on both sides, by dimension; empty: there is no halo
  bool zeros = false;   ///< all elements of the halo are 0

  bool empty() const { return before.empty(); }
};

/// An array in memory: a value of the graph, a constant, or a temporary between two loops. Element (i0, i1, ...) is at element
/// start_of(array) + sum(i_k * strides[k]) of its memory.
struct Array {
  DType dtype = DType::f32;
  DimList shape;
  DimList strides;                              ///< in elements; row-major unless a pass chose a layout
  ir::ValueId value;                            ///< the value that it holds; none: a temporary
  std::vector<int> order;                       ///< dimensions from the outermost to the innermost in memory; empty: row-major
  int64_t row_padding = 0;                      ///< unused elements after each row of the innermost dimension in memory
  Halo halo;                                    ///< padding that convolutions read
  ir::ConstantRef constant;                     ///< row-major elements of a constant array
  std::optional<ir::GrowingAxis> growing = {};  ///< memory of a state: strides are those of the axis at its capacity
  ArrayId same_bytes = -1;                      ///< array whose memory it shares, row-major in both (Reshape); -1: none
  /// Above 0: only the kernels of one region access it, and unit u of the region accesses the u-th of so many equal, consecutive pieces.
  Dim units = 0;
  bool fixed_layout = false;  ///< visible outside of the plan (graph input or output, operand of a segment): stays row-major
};

/// One load of a nest: element `index` of the array, or, where a reshape is in between that maps no index to an index, element number
/// `flat` of its memory, which is then row-major. The expressions are over the axes of the nest.
struct NestAccess {
  ArrayId array = -1;
  DType dtype = DType::f32;
  std::vector<Expr> index;
  Expr flat;    ///< null: `index` counts
  Expr within;  ///< where this is false, nothing is read and the value is `fill`; null: always true
  Expr fill;
};

/// One result of a nest: `value`, over its accesses (Expr::input) and axes, stored or combined into an element of an array.
struct NestOutput {
  ArrayId array = -1;
  DType dtype = DType::f32;
  Expr value;
  ops::Combine combine = ops::Combine::none;  ///< how values of one element are reduced; none: there is one value
  std::vector<Expr> index;                    ///< of the element
  Expr flat;                                  ///< its number in memory, in place of `index`; null: `index` counts
  Expr within;                                ///< where this is false, nothing is stored; null: always true
};

/// A loop nest: one loop of a loop form (ops::Loop) whose operands are arrays of the plan. A place is the element number in memory that an
/// access or output has at a step of the axes.
struct Nest {
  std::vector<ops::Axis> axes;
  std::vector<NestAccess> accesses;
  std::vector<NestOutput> outputs;
  bool exclusive = false, reverse = false;  ///< of scanned axes: leave out the own element; go from the last step to the first
  int condition =
      -1;  ///< number of an access that loads a bool by leading parallel axes; the other axes run only where it is true; -1: none
  std::vector<ir::NodeId> nodes;  ///< whose results it computes
  size_t order = 0;               ///< position among the nests before fusion, which groups follow
  bool dead = false;              ///< fused into another nest; to be removed
};

/// A map that runs on a tile of a contraction's or window sum's result before it is stored. Its axes are the dimensions of that result.
struct Epilogue {
  Nest map;  ///< reads the result through access number `accumulator`
  int accumulator = 0;
  /// Above 1: the last dimension of the result consists of so many equal columns (the gates of a recurrent layer), and the last axis of the
  /// map runs over one of them. The map reads each column through an access of its own, and may have several outputs.
  int columns = 1;
};

/// Consecutive axes, outermost first, that act as one axis: in each place, a step of one is as long as all steps of the next together.
struct JointAxis {
  std::vector<int> axes;
  Dim extent = 1;
};
/// The axes of all joint axes, in order.
inline std::vector<int> axes_of(const std::vector<JointAxis>& list) {
  std::vector<int> out;
  for (const JointAxis& a : list) out.insert(out.end(), a.axes.begin(), a.axes.end());
  return out;
}
/// The product of their extents; 1 for none.
inline Dim extent_of(const std::vector<JointAxis>& axes) {
  Dim out = 1;
  for (const JointAxis& a : axes) out = out * a.extent;
  return out;
}

/// One factor of the products that a contraction sums: an expression over loads, so that a cast or a dequantisation is part of it.
struct ContractOperand {
  Expr value;
  std::vector<int> accesses;  ///< that it reads; the first gives its place

  bool is_load() const { return value.op() == ExprOp::input; }
};

/// What a sum of products is: its factors, and what each axis is to them. Axes of extent 1 take no part.
struct Contraction {
  ContractOperand rows_operand, lanes_operand;  ///< read element by element, and along the lanes
  int scale = -1;          ///< load that each element of the rows operand is multiplied by: it does not move along the last rows
  bool packed = false;     ///< the lanes operand is a constant, packed when the engine is built
  DType sum = DType::f32;  ///< what sums are kept in; operands have this type too, but those of groups
  bool in_blocks = false;  ///< the lanes operand is a constant in whole blocks along the depth, which the product can unpack
  Activations activations = Activations::f32;  ///< what the rows operand is rounded to beside a matrix in blocks; see RoundedRows
  int group = 1;                 ///< neighbouring products that one instruction adds up, where the target has it for the operands' types
  std::vector<JointAxis> batch;  ///< in both operands
  std::vector<JointAxis> rows;   ///< in the rows operand only; the last runs over registers
  std::vector<JointAxis> lanes;  ///< in the lanes operand only; the last lies along the lanes
  std::vector<JointAxis> depth;  ///< reduced; the last is the innermost loop
};

/// A range that elements of an integer array must have, since they are indices into a dimension (token numbers). Input checks refuse other
/// values of `input`.
struct IndexLimit {
  ArrayId input = -1;
  Dim extent;             ///< of the dimension: indices are below it
  bool from_end = false;  ///< indices from -extent on are allowed and count from the end
};

// The kinds of groups, with the fields that only one kind has. The first three become kernels; only these have nests, epilogues and
// regions.

/// Loops that share one kernel.
struct LoopGroup {
  int outer = 0;           ///< leading axes that all nests share; each of their points is a task
  bool auxiliary = false;  ///< fills an operand of a contraction or attention of the same node, or finishes its result
};
/// The rows operand of a product with panels of blocks as it is rounded for it, [rows..., depth], contiguous. Set by prepare_operands,
/// where a build rounds activations. In bytes, elements are code * scale: for each `run` of them along the depth, `scales` has the scale
/// and `sums` the sum of these elements.
struct RoundedRows {
  ArrayId values = -1;             ///< bf16 numbers or i8 codes; -1: rows are read as they are
  ArrayId scales = -1, sums = -1;  ///< f32; -1: of bf16
  int run = 0;
};
/// A sum of products, which runs on register tiles.
struct ContractGroup {
  std::optional<Contraction> contraction;  ///< roles of the nest's axes; recomputed (recompute_roles) after the nest changed
  std::optional<int64_t> constant_bytes_per_iteration = {};  ///< in a loop's body: size of the constants that one iteration reads
  ArrayId panels = -1;  ///< array with the lanes operand packed into panels, which the kernel reads; set by prepare_operands
  ArrayId scales = -1;  ///< array with the scales of a lanes operand in blocks, whose codes are `panels` then; -1: panels of elements
  RoundedRows rounded = {};
};
/// Fused attention.
struct AttentionGroup {
  double scale = 1;                                     ///< factor of the products of queries and keys
  ops::MaskedRows masked_rows = ops::MaskedRows::zero;  ///< result of a query whose keys are all masked
  /// Of ragged attention, whose inputs are the first query and the first key of each sequence: upper bound of the queries of a sequence.
  std::optional<Dim> longest_sequence = {};
  int value_scale = -1;  ///< access with a factor of each value's weight: values are codes of 8 bits; -1: none
  ArrayId part_sums = -1,
          part_weights = -1;  ///< partial results where keys are split among tasks or summed in ranges, see part_shapes; set by
                              ///< prepare_operands, -1: neither
};
/// A segment of another backend.
struct SegmentGroup {
  uint32_t segment = 0;  ///< number in Plan::segments
};
/// Stores sizes as an integer tensor.
struct SizesGroup {
  std::vector<const DimNode*> symbols;  ///< on which its elements depend
};
/// A branch or a loop, whose bodies have plans of their own.
struct ControlGroup {};
/// Checks that indices are in range.
struct CheckGroup {
  IndexLimit limit;  ///< range of the smallest and the largest index, which are its inputs
};
/// Lists the rows of padded sequences that a mask keeps (op PackedRows).
struct PackedRowsGroup {};

enum class GroupKind : uint8_t { nests, contract, attention, segment, sizes, control, check, packed_rows };
/// In the order of GroupKind.
using GroupPayload =
    std::variant<LoopGroup, ContractGroup, AttentionGroup, SegmentGroup, SizesGroup, ControlGroup, CheckGroup, PackedRowsGroup>;

/// Whether sizes of its results may be unknown until it has run.
inline bool has_data_dependent_shape(GroupKind kind) {
  return kind == GroupKind::segment || kind == GroupKind::control || kind == GroupKind::packed_rows;
}

/// A group's share of a parallel region, in which neighbouring groups run part by part over the same rows. Rows are counted in units; a
/// part is a range of units, and one thread runs all groups of a part.
struct Region {
  std::vector<int> axes;  ///< axes of its nest (of each nest) that number the units, the first one outermost
  Dim units;              ///< how many there are
  Dim parts;              ///< how many there are; 1: the groups run one after the other
  bool joined = false;    ///< in the region of the group before; false: the first of its region
};

/// A part of a plan that becomes one kernel (attention: up to three), or one step without a kernel.
struct Group {
  GroupPayload payload = {};
  std::vector<Nest> nests = {};  ///< of loops: in the order in which they run; of contractions, attention and groups with an epilogue: one
  std::optional<Epilogue> epilogue = {};
  std::optional<Region> region = {};
  ir::NodeId node = {};                            ///< that it computes; of a segment the first one; none: nests of several nodes
  std::vector<ArrayId> inputs = {}, outputs = {};  ///< of steps without a kernel: operands (-1: missing) and results

  GroupKind kind() const { return static_cast<GroupKind>(payload.index()); }
  /// Replaces the payload by the defaults of that kind, unless the group has that kind already.
  void set_kind(GroupKind kind);

  template <class T>
  T& as() {
    return std::get<T>(payload);
  }
  template <class T>
  const T& as() const {
    return std::get<T>(payload);
  }
  /// Roles of its axes; null where the group is no contraction.
  Contraction* contraction() { return const_cast<Contraction*>(std::as_const(*this).contraction()); }
  const Contraction* contraction() const {
    const auto* of = std::get_if<ContractGroup>(&payload);
    return of && of->contraction ? &*of->contraction : nullptr;
  }
  int outer() const {
    const auto* of = std::get_if<LoopGroup>(&payload);
    return of ? of->outer : 0;
  }
  bool is_auxiliary() const {
    const auto* of = std::get_if<LoopGroup>(&payload);
    return of && of->auxiliary;
  }
};

/// A state of the model: a value that lasts between runs.
struct PlanState {
  std::string name;
  uint32_t input = 0, output = 0;  ///< indices into Plan::inputs (old value) and Plan::outputs (new value)
  /// The new value is written to the memory of the old one: no group reads an element of the old value that an earlier group has changed.
  /// Otherwise a run copies the new value when it ends.
  bool in_place = false;
  /// Nodes of a group that prevents `in_place`: it would read elements of the old value after they changed. Empty: no such group is known.
  std::vector<ir::NodeId> late_readers = {};
};

/// A graph as groups over arrays, in an order that respects all dependencies.
struct Plan {
  std::vector<Array> arrays;
  std::vector<Group> groups;
  std::vector<ArrayId> inputs, outputs;  ///< of the graph, those of states included
  std::vector<PlanState> states = {};    ///< in the order of the graph
  std::vector<ir::Segment> segments;     ///< nodes that other backends run; one SegmentGroup each
  std::vector<IndexLimit> index_limits;
  std::vector<ir::Assumption> assumptions;    ///< checked before anything runs that relies on them
  std::vector<const DimNode*> outer_symbols;  ///< of a body: symbols whose values the outer graph passes
  PlanLimits limits = {};                     ///< of the target
  /// Each sum of products is added in one order, whatever the number of rows, tasks or threads, so that the result of a row does not depend
  /// on the other rows.
  bool sums_in_order = false;
  Activations activations = Activations::f32;  ///< of products with matrices in blocks
};

/// The array whose memory `a` uses: `a` itself, or the first of a chain of reshapes.
inline ArrayId storage_of(ArrayId a, const Plan& plan) {
  while (plan.arrays[a].same_bytes >= 0) a = plan.arrays[a].same_bytes;
  return a;
}

/// The state whose memory the array is: its old value, or its new value where that is written in place. Null: of no state.
const PlanState* state_in(ArrayId array, const Plan& plan);
/// The state whose old value is input `number` of the plan, or whose new value is output `number`. Null: a caller passes or receives it.
const PlanState* state_of_input(size_t number, const Plan& plan);
const PlanState* state_of_output(size_t number, const Plan& plan);

/// Row-major strides.
DimList row_major(const DimList& shape);
/// Strides of a dense array with dimensions in memory in `order`, outermost first.
DimList strides_in_order(const DimList& shape, const std::vector<int>& order);
/// Strides that follow from the array's shape, memory order, row padding and halo.
DimList strides_of(const Array& array);
/// The shape of the array's memory: with row padding and halo, and a growing axis at its capacity.
DimList stored_shape(const Array& array);
/// The number in memory of element (0, 0, ...), in elements: after the halo in front.
Dim start_of(const Array& array);
/// sum(index_k * strides_k)
Expr flatten(const std::vector<Expr>& index, const DimList& strides);
/// The index in `shape` of row-major element number `flat`, an affine sum over `axes`; nullopt where the terms of the sum do not belong to
/// one dimension each.
std::optional<std::vector<Expr>> unflatten(const Expr& flat, const DimList& shape, const std::vector<ops::Axis>& axes);
/// Whether `index` is the step of that axis: the axis itself, or 0 where its extent is 1.
bool is_axis(const Expr& index, int axis, const Nest& nest);
std::string text_of(const Nest& nest, const Plan& plan);
std::string text_of(const Plan& plan);

}  // namespace tenon::codegen
