// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/expr/expr.h"
#include "base/result.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// Type of a register: `lanes` elements; 1 lane is a scalar. boolean registers are masks (one bit a lane).
struct TileType {
  DType element = DType::f32;
  int lanes = 1;
  friend bool operator==(const TileType&, const TileType&) = default;
};

/// A register of the kernel, written once; -1 is "none".
using Reg = int32_t;
inline constexpr Reg kNone = -1;

enum class TileOp : uint8_t {
  constant,  ///< splat of `number` / `integer`
  size,      ///< i64: sizes[index] of the kernel's arguments
  task_begin,
  task_end,    ///< i64: the range of tasks of this call
  lanes_iota,  ///< 0, 1, 2, ... in type.element
  splat,       ///< scalar args[0] to all lanes
  expr,        ///< `expr_op` on args, lane by lane; for cast the target is type.element
  fma,         ///< args[0] * args[1] + args[2], rounded once
  reduce,      ///< combines the lanes of args[0] into a scalar with `combine`, pairwise in a fixed order (halves)
  first_mask,  ///< mask whose first args[0] (i64 scalar) lanes are set
  load,        ///< from `buffer` at element args[0] (i64 scalar); see `stride`
  store,       ///< args[0]: value, args[1]: element offset
  prefetch,    ///< `buffer` at element args[0], to write where the kernel writes it; a hint, may point outside
  transpose,   ///< a square of registers, as many as one has lanes: lane j of results[i] is lane i of args[j]
  loop,        ///< for (i = args[0]; i < args[1]; i += args[2]); see body, carried
  branch,      ///< if (args[0], a bool scalar): body, else `otherwise`; yields `results`
  contract,    ///< the register-blocked contraction, see Contract
};

/// What a buffer number of a kernel means.
struct Buffer {
  enum class Kind : uint8_t { argument, scratch } kind = Kind::argument;
  DType dtype = DType::f32;
  int64_t scratch_count = 0;  ///< scratch: elements; 64-byte aligned; private to the thread, contents undefined at entry
  int32_t argument = 0;       ///< argument: index into KernelArgs::buffers
  bool written = false;
};

/// acc[r][v] += sum over k < K and j < products of A[a_offset + r*a_row + k*a_k + j] * B[b_offset + k*b_k + (v*lanes + lane)*products + j],
/// in the order of k. With a scale, of single products of floats, the element of B is multiplied by scale[scale_offset + k*scale_k] before,
/// and rounded. A's groups are broadcast; B is read `vectors` registers wide. What a group takes, and how it is added up:
/// - 1 product: any types; one fused multiply-add in the accumulator's type.
/// - 2 of bf16 in f32 (VDPBF16PS, Intel SDM): j = 1, then j = 0, each one fused multiply-add that rounds to nearest even; denormal operands
///   and sums are taken for zeros of their sign, whatever the control register says (so did each of 8 million random groups on Zen 5).
/// - 4 of u8 (A) and i8 (B) in i32 (VPDPBUSD): exact, and wraps.
/// A group may contain elements of A beyond the end of its buffer, which may be any number: B has zeros for them.
struct Contract {
  static constexpr int kStepsALine = 2;
  int rows = 1, vectors = 1, lanes = 16;
  int32_t a = 0, b = 0;                              ///< buffers
  Reg a_offset = kNone, a_row = kNone, a_k = kNone;  ///< i64 scalars, in elements; kNone: offset 0, a_row 0, a_k products
  int line = 0;                                      ///< rows at distance a_row, then follow those of the next line; 0: all
  Reg a_line = kNone;                                ///< i64, in elements: from line to line
  Reg b_offset = kNone, b_k = kNone;                 ///< kNone: offset 0, b_k vectors * lanes * products (a packed panel)
  Reg depth = kNone;                                 ///< K, in groups
  Reg b_mask = kNone;                                ///< lanes of the last vector of B that are read (others are 0); kNone: all
  int32_t scale = -1;                                ///< buffer of the accumulator's type; -1: there is none
  Reg scale_offset = kNone, scale_k = kNone;         ///< i64, in elements; kNone: 0, 1
  DType accumulator = DType::f32;
  int products = 1;          ///< neighbours that one instruction multiplies and adds up
  bool in_order = false;     ///< products are added in the order of K, whatever the tile: no chains
  int prefetch_b_bytes = 0;  ///< how far ahead of the B stream to prefetch; 0: not at all
  Reg fetch = kNone;         ///< i64 element of B from which on a cache line is prefetched every kStepsALine of K, a hint too; kNone: none
  std::vector<Reg> accumulators_in = {};   ///< rows*vectors; kNone: start at zero
  std::vector<Reg> accumulators_out = {};  ///< rows*vectors
};

/// Multiply-adds that are in flight at once where none waits for another: two a cycle for the four cycles that each takes (Zen 2 to 5,
/// Skylake and later; Zen 4 starts one of 512 bits a cycle, and does with four).
inline constexpr int kSumsInFlight = 8;
/// A small tile keeps so many sums in the place of one, each of every so manieth step of K, that none waits for the one before; after whole
/// trips of kTrip steps halves of them are added up until there is one again, which gets the steps that are left. 1: the tile has enough.
int chains_of(int rows, int vectors);
int chains_of(const Contract& contract);
inline constexpr int kTrip = 4;

/// How many neighbouring products of these types one instruction adds up on targets that have it; 1: there is none.
int group_of(DType a, DType b, DType accumulator);

struct TileInstr;
using TileBlock = std::vector<TileInstr>;

struct TileInstr {
  TileOp op = TileOp::constant;
  Reg result = kNone;
  TileType type = {};  ///< of the result (store: of the value)
  std::vector<Reg> args = {};
  ExprOp expr_op = ExprOp::add;
  ops::Combine combine = ops::Combine::none;
  double number = 0;
  int64_t integer = 0;
  int32_t index = 0;  ///< size
  // memory
  int32_t buffer = -1;
  Reg stride = kNone;  ///< elements between lanes (i64 scalar); kNone: 1. A load with `broadcast` reads one element.
  bool broadcast = false;
  Reg offsets = kNone;     ///< load/store: i64 vector of element offsets added to the scalar one (gather / scatter)
  Reg mask = kNone;        ///< lanes that are loaded / stored; other lanes of a load give `fill`
  Reg fill = kNone;        ///< same type as the result; kNone: zero
  bool streaming = false;  ///< store: bypass the caches
  // control
  Reg induction = kNone;             ///< loop: i64
  std::vector<Reg> carried_in = {};  ///< loop: initial values
  std::vector<Reg> carried = {};     ///< loop: the values inside the body
  std::vector<Reg> yields = {};      ///< loop: values at the end of the body; branch: of `body`
  std::vector<Reg> otherwise_yields = {};
  std::vector<Reg> results = {};  ///< loop: final values; branch: chosen values; transpose: columns
  TileBlock body = {}, otherwise = {};
  int unroll = 1;  ///< loop: hint; the trip count need not divide
  Contract contract = {};
};

/// One kernel: run for tasks [begin, end) on one thread. Distinct tasks write disjoint elements.
struct TileKernel {
  std::string name;
  std::vector<Buffer> buffers = {};
  std::vector<TileType> registers = {};  ///< type of each register
  int32_t sizes = 0;                     ///< how many i64 sizes it takes
  TileBlock body = {};
  int64_t scratch_bytes() const;
};

/// How a load or store reaches memory beyond its scalar offset; see TileInstr.
struct Memory {
  Reg stride = kNone, offsets = kNone, mask = kNone, fill = kNone;
  bool broadcast = false, streaming = false;
};

/// Appends instructions; scalars broadcast to vectors where one operand of an expr is a vector. Inside `loop`, the callback
/// emits the body and returns the yields.
class TileBuilder {
 public:
  /// sums_in_order: every contract is `in_order`.
  explicit TileBuilder(TileKernel& kernel, bool sums_in_order = false);
  int32_t argument(DType dtype, bool written);  ///< a new argument buffer
  int32_t scratch(DType dtype, int64_t count);
  Reg integer(int64_t value);  ///< i64 scalar
  Reg constant(TileType type, double value);
  Reg constant_integer(TileType type, int64_t value);
  Reg size(int32_t index);
  Reg task_begin();
  Reg task_end();
  Reg iota(TileType type);
  Reg splat(Reg scalar, int lanes);
  Reg expr(ExprOp op, std::vector<Reg> args, DType cast_to = DType::none);
  Reg add(Reg a, Reg b) { return expr(ExprOp::add, {a, b}); }
  Reg sub(Reg a, Reg b) { return expr(ExprOp::sub, {a, b}); }
  Reg mul(Reg a, Reg b) { return expr(ExprOp::mul, {a, b}); }
  Reg min(Reg a, Reg b) { return expr(ExprOp::min, {a, b}); }
  Reg fma(Reg a, Reg b, Reg c);
  Reg reduce(Reg vector, ops::Combine combine);
  Reg first_mask(Reg count, int lanes);
  Reg load(int32_t buffer, Reg offset, int lanes, Memory how = {});
  void store(int32_t buffer, Reg offset, Reg value, Memory how = {});
  void prefetch(int32_t buffer, Reg offset);
  std::vector<Reg> transpose(std::vector<Reg> rows);
  std::vector<Reg> loop(Reg from, Reg to, Reg step, std::vector<Reg> carried,
                        const std::function<std::vector<Reg>(Reg i, const std::vector<Reg>& carried)>& body, int unroll = 1);
  /// A loop without carried values.
  void loop(Reg from, Reg to, Reg step, const std::function<void(Reg i)>& body);
  std::vector<Reg> branch(Reg condition, const std::function<std::vector<Reg>()>& then, const std::function<std::vector<Reg>()>& otherwise);
  std::vector<Reg> contract(Contract how);
  const TileType& type(Reg r) const { return kernel_.registers[r]; }
  TileKernel& kernel() { return kernel_; }

 private:
  Reg fresh(TileType type);
  Reg append(TileInstr instr);
  TileKernel& kernel_;
  bool sums_in_order_ = false;
  std::vector<TileBlock*> blocks_;
};

std::string text_of(const TileKernel& kernel);
/// Types, single assignment, dominance, buffer numbers. Errors: internal.
Result<void> verify(const TileKernel& kernel);

/// Runs the kernel lane by lane in plain C++: the oracle of the emitters. buffers[k]: argument k, with its element count for bounds
/// checks (index_out_of_range). Transcendental functions are the exact ones rounded once.
struct BoundBuffer {
  std::byte* data = nullptr;
  int64_t count = 0;
};
Result<void> interpret(const TileKernel& kernel, std::span<const BoundBuffer> arguments, std::span<const int64_t> sizes, int64_t begin,
                       int64_t end);

}  // namespace tenon::codegen
