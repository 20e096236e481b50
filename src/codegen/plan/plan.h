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
#include "ir/graph.h"
#include "ir/segment.h"
#include "ir/state.h"
#include "ops/attention/scores.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// Number of an array in a Plan: a value of the graph, or a temporary between two loops.
using ArrayId = int32_t;

/// Padding stored around the array. Valid indices in dimension k run from -before[k] to shape[k] + after[k] - 1.
struct Halo {
  Sizes before, after;  ///< of each dimension; empty: there is none
  bool zeros = false;   ///< are 0, all of them

  bool empty() const { return before.empty(); }
};

/// Something that lives in memory. Element (i0, i1, ...) is at start_of(array) + sum(i_k * strides[k]).
struct Array {
  DType dtype = DType::f32;
  DimList shape;
  DimList strides;                              ///< elements; row-major unless a layout was chosen
  ir::ValueId value;                            ///< none: a temporary
  std::vector<int> order;                       ///< dimensions from the outermost to the innermost in memory; empty: as they are
  int64_t row_padding = 0;                      ///< elements that nothing reads behind each row of the innermost dimension in memory
  Halo halo;                                    ///< of what convolutions read with a padding around it
  ir::ConstantRef constant;                     ///< row-major bytes, where constant
  std::optional<ir::GrowingAxis> growing = {};  ///< has strides as if that axis had its capacity: memory of a state
  ArrayId same_bytes = -1;                      ///< shares the buffer of that array, row-major in both (Reshape and the like)
  Dim units = 0;              ///< above 0: pieces in which one region alone writes and reads it, one a unit, equal, one after the other
  bool fixed_layout = false;  ///< seen from outside (graph input or output, operand of a segment): stays row-major
};

/// One load of a nest. `index` counts in the array's own shape; where the array was reached through a reshape that does not
/// map index to index, `flat` is there instead: the element's number in memory, which is row-major until a layout is chosen.
struct NestAccess {
  ArrayId array = -1;
  DType dtype = DType::f32;
  std::vector<Expr> index;
  Expr flat;
  Expr within, fill;
};

struct NestOutput {
  ArrayId array = -1;
  DType dtype = DType::f32;
  Expr value;
  ops::Combine combine = ops::Combine::none;
  std::vector<Expr> index;  ///< in the array's own shape
  Expr flat;                ///< or the element number, once axes were joined
  Expr within;
};

/// One loop of a node, with its operands resolved to arrays.
struct Nest {
  std::vector<ops::Axis> axes;
  std::vector<NestAccess> accesses;
  std::vector<NestOutput> outputs;
  bool exclusive = false, reverse = false;
  int condition = -1;             ///< access of a bool over leading parallel axes: the other axes run only where it is true; -1: always
  std::vector<ir::NodeId> nodes;  ///< what it computes
  size_t order = 0;               ///< place in the program
  bool dead = false;              ///< swallowed by another nest
};

/// A contraction or a window sum, and the map that runs on its tile before it is stored. Axes of `epilogue` are those of the output.
struct Epilogue {
  Nest map;  ///< reads the contraction's output through access `accumulator`
  int accumulator = 0;
  /// Above 1: the output's last dimension is so many equal columns side by side, of which the map's last axis walks one. The map reads
  /// several, each through an access, and may have several outputs.
  int columns = 1;
};

/// Axes that every place walks as one; the last is the innermost.
struct JointAxis {
  std::vector<int> axes;
  Dim extent = 1;
};
/// All axes that they consist of, in order.
inline std::vector<int> axes_of(const std::vector<JointAxis>& list) {
  std::vector<int> out;
  for (const JointAxis& a : list) out.insert(out.end(), a.axes.begin(), a.axes.end());
  return out;
}
/// Steps of all of them together; 1 of none.
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
  int scale = -1;                ///< load that each element of the rows operand is multiplied by: it does not move along the last rows
  bool packed = false;           ///< the lanes operand is a constant, packed when the engine is built
  DType sum = DType::f32;        ///< what sums are kept in; operands have this type too, but those of groups
  int group = 1;                 ///< neighbouring products that one instruction adds up, where the target has it for the operands' types
  std::vector<JointAxis> batch;  ///< in both operands
  std::vector<JointAxis> rows;   ///< in the rows operand only; the last runs over registers
  std::vector<JointAxis> lanes;  ///< in the lanes operand only; the last lies along the lanes
  std::vector<JointAxis> depth;  ///< reduced; the last is the innermost loop
};

/// Elements that are places in a dimension of that extent (token numbers). Of an input: others are refused by input checks.
struct IndexLimit {
  ArrayId input = -1;
  Dim extent;
  bool from_end = false;  ///< negative ones count from the end
};

/// What kinds of groups have that no other has. `nests`, epilogues and regions are of the first three, which become kernels.
struct LoopGroup {
  int outer = 0;              ///< leading axes that all nests share, each a task
  bool of_a_product = false;  ///< what a contraction or attention of the same node reads, or makes of its sums
};
struct ContractGroup {
  std::optional<Contraction> contraction;                    ///< of its nest as it is; code that edits the nest settles it again
  std::optional<int64_t> constant_bytes_per_iteration = {};  ///< in a loop's body: of the constants that one iteration reads
  ArrayId panels = -1;  ///< the lanes operand in panels, which the kernel reads in place of the nest's access; made by prepare_operands
};
struct AttentionGroup {
  double scale = 1;  ///< factor of the products
  ops::MaskedRows masked_rows = ops::MaskedRows::zero;
  /// Within packed sequences, whose starts (of queries, of keys) are the group's inputs: the longest sequence of queries.
  std::optional<Dim> longest = {};
  ArrayId part_sums = -1, part_weights = -1;  ///< what parts of the keys leave for each other; made by prepare_operands, -1: one part
};
struct SegmentGroup {
  uint32_t segment = 0;  ///< number in Plan::segments
};
struct SizesGroup {
  std::vector<const DimNode*> symbols;  ///< that its elements depend on
};
struct ControlGroup {};  ///< a branch or a loop, whose bodies have plans of their own
struct CheckGroup {
  IndexLimit limit;  ///< that the smallest and largest index, its inputs, must keep
};
struct RowsGroup {};  ///< finds the wanted rows of packed sequences

enum class GroupKind : uint8_t { nests, contract, attention, segment, sizes, control, check, rows };
/// In the order of GroupKind.
using GroupPayload = std::variant<LoopGroup, ContractGroup, AttentionGroup, SegmentGroup, SizesGroup, ControlGroup, CheckGroup, RowsGroup>;

/// The sizes of its results may be known only when it has run.
inline bool has_data_dependent_shape(GroupKind kind) {
  return kind == GroupKind::segment || kind == GroupKind::control || kind == GroupKind::rows;
}

/// What a group shares with its neighbours in one parallel region: rows, in units, of which a part is some that stand together.
struct Region {
  std::vector<int> axes;  ///< of its nest (nests: of each) that number the units, the first one outermost
  Dim units;
  Dim parts;            ///< 1: the groups run one after the other
  bool joined = false;  ///< to the group before
};

/// What becomes one kernel (or one step without a kernel).
struct Group {
  GroupPayload payload = {};
  std::vector<Nest> nests = {};  ///< loops: in order, sharing the first `outer` axes; with an epilogue, contract and attention: one
  std::optional<Epilogue> epilogue = {};
  std::optional<Region> region = {};
  ir::NodeId node = {};                            ///< that it computes; of a segment the first one. None: nests of several nodes
  std::vector<ArrayId> inputs = {}, outputs = {};  ///< of steps without a kernel: operands (-1: missing) and results

  GroupKind kind() const { return static_cast<GroupKind>(payload.index()); }
  /// A group of that kind, with its defaults. Nothing changes where it is one.
  void set_kind(GroupKind kind);

  template <class T>
  T& as() {
    return std::get<T>(payload);
  }
  template <class T>
  const T& as() const {
    return std::get<T>(payload);
  }
  /// Null where it is no contraction.
  Contraction* contraction() { return const_cast<Contraction*>(std::as_const(*this).contraction()); }
  const Contraction* contraction() const {
    const auto* of = std::get_if<ContractGroup>(&payload);
    return of && of->contraction ? &*of->contraction : nullptr;
  }
  int outer() const {
    const auto* of = std::get_if<LoopGroup>(&payload);
    return of ? of->outer : 0;
  }
  bool of_a_product() const {
    const auto* of = std::get_if<LoopGroup>(&payload);
    return of && of->of_a_product;
  }
};

/// A value that lasts between runs.
struct PlanState {
  std::string name;
  uint32_t input = 0, output = 0;  ///< numbers in Plan::inputs and outputs: the old value and the new one
  /// The new value is written to the memory of the old one: no group reads, once a group has written, what it has changed. Else a run
  /// copies the new value when it ends.
  bool in_place = false;
  /// Nodes of a group that reads the old value after parts of it would have changed in place. Empty: no such group is known.
  std::vector<ir::NodeId> late_readers = {};
};

/// A graph as groups over arrays, in an order that respects all dependencies.
struct Plan {
  std::vector<Array> arrays;
  std::vector<Group> groups;
  std::vector<ArrayId> inputs, outputs;  ///< of the graph, states' included
  std::vector<PlanState> states = {};    ///< in the order of the graph's
  std::vector<ir::Segment> segments;     ///< what other backends run, each one group here
  std::vector<IndexLimit> index_limits;
  std::vector<ir::Assumption> assumptions;    ///< checked before anything runs that relies on them
  std::vector<const DimNode*> outer_symbols;  ///< of a body: symbols whose values the outer graph passes
  PlanLimits limits = {};                     ///< the target's
  /// Each sum of products is made in one order, whatever the number of rows, of tasks or of threads: a row has the same bits alone and
  /// among others.
  bool sums_in_order = false;
};

/// The array whose bytes it shares: itself where it is no reshape.
inline ArrayId storage_of(ArrayId a, const Plan& plan) {
  while (plan.arrays[a].same_bytes >= 0) a = plan.arrays[a].same_bytes;
  return a;
}

/// The state whose memory it is: an old value, or a new one that is written in place. Null where it is none's.
const PlanState* state_in(ArrayId array, const Plan& plan);
/// The state whose old value input `number` of the plan is, or whose new value output `number` is. Null: a caller's.
const PlanState* state_of_input(size_t number, const Plan& plan);
const PlanState* state_of_output(size_t number, const Plan& plan);

/// Row-major strides.
DimList row_major(const DimList& shape);
/// Strides of a dense array whose dimensions stand in memory in `order` (outermost first).
DimList strides_in_order(const DimList& shape, const std::vector<int>& order);
/// Those of its shape, memory order, padding and halo.
DimList strides_of(const Array& array);
/// Its shape with the padding and the halo, and the capacity of a growing axis: what it takes in memory.
DimList stored_shape(const Array& array);
/// Of its first own element, in elements: behind the halo.
Dim start_of(const Array& array);
/// sum(index_k * strides_k)
Expr flatten(const std::vector<Expr>& index, const DimList& strides);
/// The index in `shape` of row-major element `flat` (an affine sum over axes of the given extents), where its terms fall apart
/// along the shape's strides; nullopt where they do not.
std::optional<std::vector<Expr>> unflatten(const Expr& flat, const DimList& shape, const std::vector<ops::Axis>& axes);
/// Whether `index` is the number of that axis: the axis itself, or 0 where it has one step only.
bool is_axis(const Expr& index, int axis, const Nest& nest);
std::string text_of(const Nest& nest, const Plan& plan);
std::string text_of(const Plan& plan);

}  // namespace tenon::codegen
