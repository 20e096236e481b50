// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/size_relation.h"
#include "base/tensor.h"
#include "runtime/state.h"
#include "runtime/step.h"

namespace tenon::runtime {

/// One line of the size table, which computes the values of symbolic dimensions at run time. Its operands are earlier lines.
struct SizeLine {
  enum class Kind : uint8_t {
    constant = 1,
    input_dimension = 2,
    add = 3,
    multiply = 4,
    floor_divide = 5,
    minimum = 6,
    maximum = 7,
    select = 8,
    less = 9,
    equal = 10,
    bound = 11,         ///< set by the step whose results have that size (data-dependent shapes)
    outer = 12,         ///< of a body: entry `a` of the sizes of the branch or loop
    state_length = 13,  ///< length before the run of number `a` of Program::states, which grows
    state_size = 14,    ///< size of axis `b`, which is free, of number `a` of Program::states, as fixed before the run
  } kind = Kind::constant;
  int64_t constant = 0;
  Slot a = 0, b = 0, c = 0;  ///< operands; input_dimension: input and axis
};

/// A relation of two sizes that compilation assumed. A run checks it once both sizes are known, before any step that relies on it.
struct Guard {
  using Kind = SizeRelation;
  Kind kind = Kind::equal;
  Slot a = 0, b = 0;
  std::string where;           ///< what assumed it: "node 'scores' (MatMul)"
  std::string what;            ///< the error message where the relation does not hold
  std::string a_text, b_text;  ///< the sizes as the model spells them: "seq", "2*n + 1"
};

/// The declared type of a sequence or an optional, in addition to the dtype of its tensors; of a map the types of keys and values alone.
struct ContainerInfo {
  ValueKind kind = ValueKind::tensor;  ///< tensor: the value is a plain tensor, and the other fields have no meaning
  std::vector<int64_t> sizes;          ///< shape of each tensor; -1: any size
  bool unranked = false;               ///< the rank of the tensors is unknown
  DType key = DType::none;             ///< of maps: i64 or string
};

/// A value of the program: a tensor, a sequence, an optional or a map. Elements are row-major, except where only kernels use them.
struct BufferInfo {
  enum class Kind : uint8_t { input = 1, output = 2, weight = 3, arena = 4, dynamic = 5, alias = 6, state = 7 } kind = Kind::arena;
  DType dtype = DType::f32;
  std::vector<Slot> shape;
  /// input: which; output: which, the last one where several results share it; alias: the buffer whose bytes it shares;
  /// state: number in Program::states
  uint32_t index = 0;
  uint64_t offset = 0;           ///< weight: in the weights section
  uint32_t first = 0, last = 0;  ///< arena, dynamic: first and last step that uses the contents
  std::string name;
  bool unranked = false;         ///< dynamic: the rank is unknown
  ContainerInfo container = {};  ///< input, dynamic: a sequence or an optional has no shape of its own
  /// arena: only joined steps (KernelStep::joined) use it. It has so many equal pieces, one for each of their units; a thread may use any
  /// of its bytes for the pieces of its own part.
  std::optional<Slot> units = {};
};

/// Elements of an integer input must lie in [0, extent), or [-extent, extent) where they may count from the end. Checked before a run.
struct ElementLimit {
  Slot extent = 0;
  bool from_end = false;
};

/// The value of an input that the caller leaves out: row-major in the weights section.
struct DefaultValue {
  uint64_t offset = 0;
  std::vector<int64_t> shape;
};

/// An input or output as the caller sees it.
struct PortInfo {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Slot> shape;              ///< the sizes must equal the values of these lines
  std::vector<std::string> dimensions;  ///< text of each: "seq", "768"
  std::vector<int64_t> lower, upper;    ///< allowed range of each dimension
  std::vector<ElementLimit> limits;     ///< of an integer input whose elements are used as indices
  uint32_t buffer = kMissing;
  ContainerInfo container = {};                    ///< a sequence or an optional has no shape of its own
  std::optional<DefaultValue> default_value = {};  ///< of an input that a run may leave out
};

/// What a device makes a segment from.
struct Blob {
  std::string device;                 ///< its name
  std::string bytes;                  ///< what the backend of that name compiled the segment to
  std::vector<uint32_t> graphs = {};  ///< programs of the table (Role::inner_graph) that the segment may run, by its own numbers
};

/// A flat list of steps over numbered buffers. Steps refer to other programs (bodies of branches and loops) by their numbers in the
/// engine's table, whose code and weights are shared by all. A body's inputs: of a branch its captures; of a loop iteration (i64),
/// condition (bool), carried values, captures. A loop's body results: condition, carried values, rows to stack.
struct Program {
  std::vector<SizeLine> sizes;
  uint32_t input_lines = 0;   ///< lines that depend on input shapes and lengths of states alone
  std::vector<Guard> guards;  ///< in the order in which their sizes become known: by the larger of their two slots
  std::vector<BufferInfo> buffers;
  std::vector<Step> steps;
  std::vector<PortInfo> inputs, outputs;
  std::vector<StatePort> states;  ///< of an entry or a fallback; neither inputs nor outputs
  std::vector<Blob> blobs;
};

/// The sizes that a run of a program starts with, from which the size table computes all others.
struct GivenSizes {
  std::span<const std::vector<int64_t>> inputs;  ///< shapes
  std::span<const int64_t> outer;                ///< a body's: from the step that runs it
  std::span<const int64_t> lengths = {};         ///< by number in Program::states; of those that grow
  /// Shapes by number in Program::states, of those with free sizes that lines refer to. None at all: such sizes are 0.
  std::span<const std::vector<int64_t>> states = {};
};
/// Values of lines [from, to) given the earlier ones. Errors: size_overflow; shape_mismatch where a size that is used is divided by zero.
Result<void> evaluate_sizes(const Program& program, uint32_t from, uint32_t to, const GivenSizes& given, std::vector<int64_t>& values);

/// Those guards of which lines [from, to) make the last size known. Errors: shape_mismatch, naming node, sizes and what was expected.
Result<void> check_guards(const Program& program, uint32_t from, uint32_t to, const std::vector<int64_t>& values);

/// Whether the shape of the buffer needs lines after the first `input_lines`, so that its size is known only after some steps.
bool sized_late(const Program& program, const BufferInfo& buffer);

/// The offset of each arena buffer, such that no two that are live at the same time overlap (those that are `sized_late` have a layout for
/// each stage); 64-byte aligned, each followed by kSlack bytes.
struct Layout {
  std::vector<uint64_t> offsets;  ///< by buffer
  uint64_t bytes = 0;
};
inline constexpr uint64_t kSlack = 256;  ///< a kernel may read (not use) that many bytes beyond the end of an operand
/// margin: bytes kept free before and after each, a multiple of 64. Cost: O(n log n + n * overlapping) for n buffers.
/// Errors: size_overflow.
Result<Layout> lay_out(const Program& program, const std::vector<int64_t>& sizes, uint64_t margin = 0);
/// The same of the buffers of which lines [from, to), all after the first `input_lines`, make the last size known.
Result<Layout> lay_out_late(const Program& program, uint32_t from, uint32_t to, const std::vector<int64_t>& sizes, uint64_t margin = 0);
/// Whether lay_out_late() of these lines places the buffer.
bool sized_by(const Program& program, const BufferInfo& buffer, uint32_t from, uint32_t to);

/// Distance in bytes between the scratch memory of one thread and the next: the largest request of a step, with slack, in whole pages.
uint64_t scratch_stride(const Program& program);

}  // namespace tenon::runtime
