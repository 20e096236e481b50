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

/// Type of a register: a vector of `lanes` elements, or a scalar where that is 1. A vector of boolean is a mask, with one bit for each
/// lane.
struct TileType {
  DType element = DType::f32;
  int lanes = 1;
  friend bool operator==(const TileType&, const TileType&) = default;
};

/// Number of a virtual register of the kernel, which one instruction defines.
using Reg = int32_t;
inline constexpr Reg kNone = -1;  ///< no register

enum class TileOp : uint8_t {
  constant,    ///< `number` (floats) or `integer` (others) in all lanes
  size,        ///< i64 scalar: element `index` of the sizes that the caller passes
  task_begin,  ///< i64 scalar: first task of this call
  task_end,    ///< i64 scalar: one past the last task of this call
  lanes_iota,  ///< the number of each lane, 0, 1, 2, ..., as type.element
  splat,       ///< copies scalar args[0] to all lanes
  expr,        ///< applies `expr_op` to args lane by lane; a cast converts to type.element
  fma,         ///< args[0] * args[1] + args[2], rounded once
  dot,         ///< args[2] + the sum of the products of a group of args[0] and one of args[1], lane by lane; see Contract. Lanes of i32
               ///< hold groups: 4 of u8 (args[0]) and i8 (args[1]) for a result of i32, 2 of bf16 for one of f32
  pair,        ///< args[0] and args[1] (f32) rounded to bf16, the first one in the lower half of a lane of i32
  reduce,      ///< reduces the lanes of args[0] to a scalar with `combine`: lane i with lane i + n/2, until one is left
  first_mask,  ///< mask with the first args[0] (i64 scalar) lanes set
  load,        ///< reads `buffer` from element args[0] (i64 scalar) on; see TileInstr::stride
  store,       ///< writes value args[0] to `buffer` from element args[1] (i64 scalar) on
  prefetch,    ///< prefetches the line of element args[0], for writing if the kernel writes the buffer; may lie outside
  transpose,   ///< transposes as many registers as each has lanes: lane j of results[i] is lane i of args[j]
  loop,        ///< for (i = args[0]; i < args[1]; i += args[2]) body; see TileInstr::carried
  branch,      ///< if (args[0], a boolean scalar) body, else `otherwise`; defines `results`
  contract,    ///< a matrix product on a tile of accumulator registers; see Contract
};

/// One buffer of a kernel; instructions refer to it by its number in TileKernel::buffers.
struct Buffer {
  enum class Kind : uint8_t { argument, scratch } kind = Kind::argument;
  DType dtype = DType::f32;
  int64_t scratch_count = 0;  ///< of scratch: its elements; 64-byte aligned, private to the thread, undefined at entry
  int32_t argument = 0;       ///< of an argument: index into KernelArgs::buffers
  bool written = false;       ///< the kernel may store to it
};

/// A matrix product on a register tile: with strides and offsets in elements, for each row r, vector v and lane,
///   acc[r][v][lane] += sum over k < K and j < products of A[a_offset + row(r) + k*a_k_stride + j]
///                                                        * B[b_offset + k*b_k_stride + (v*lanes + lane)*products + j]
/// in the order of k, where row(r) is r * a_row_stride, or, with rows_per_line = n > 0, (r % n) * a_row_stride + (r / n) * a_line_stride:
/// the rows of a tile are then several equally long lines of an image. A is broadcast to all lanes; B is loaded as `vectors` registers.
/// With a scale, which needs products = 1 and floats, B is first multiplied by scale[scale_offset + k*scale_k_stride], and rounded.
///
/// The `products` factors of one k and row (or lane) are a group, which one instruction multiplies and adds up:
/// - 1 product: any types; one fused multiply-add in the accumulator's type.
/// - 2 of bf16 in f32 (VDPBF16PS, Intel SDM): j = 1, then j = 0, each one fused multiply-add that rounds to nearest even; denormal operands
///   and sums are taken for zeros of their sign, whatever the control register says (so did each of 8 million random groups on Zen 5).
/// - 4 of u8 (A) and i8 (B) in i32 (VPDPBUSD): exact, and wraps.
/// The last group of a row of A may reach beyond the end of its buffer and read any numbers there: B must have zeros for them.
struct Contract {
  static constexpr int kStepsPerPrefetch = 2;  ///< steps of k from one prefetch of `prefetch_from` to the next
  int rows = 1, vectors = 1, lanes = 16;       ///< the tile: rows * vectors accumulators of `lanes` elements
  int32_t a = 0, b = 0;                        ///< numbers of the buffers of A and B
  Reg a_offset = kNone;                        ///< i64 scalar; kNone: 0
  Reg a_row_stride = kNone;                    ///< i64 scalar; kNone: 0
  Reg a_k_stride = kNone;                      ///< i64 scalar; kNone: products
  int rows_per_line = 0;                       ///< 0: all rows are one line; else it divides `rows`
  Reg a_line_stride = kNone;                   ///< i64 scalar; kNone: 0
  Reg b_offset = kNone;                        ///< i64 scalar; kNone: 0
  Reg b_k_stride = kNone;                      ///< i64 scalar; kNone: vectors * lanes * products (a packed panel)
  Reg depth = kNone;                           ///< i64 scalar: K, the number of groups
  Reg b_mask = kNone;                          ///< lanes of the last vector of B that are loaded, others are 0; kNone: all
  int32_t scale = -1;                          ///< number of the scale's buffer, of the accumulator's type; -1: no scale
  Reg scale_offset = kNone;                    ///< i64 scalar; kNone: 0
  Reg scale_k_stride = kNone;                  ///< i64 scalar; kNone: 1
  DType accumulator = DType::f32;              ///< dtype of the sums
  int products = 1;                            ///< size of a group
  bool in_order = false;                       ///< each sum is one chain in the order of k (chain_count is 1), whatever the tile
  int prefetch_b_bytes = 0;                    ///< prefetch distance of the loads of B in bytes; 0: none
  Reg prefetch_from = kNone;                   ///< i64 scalar: element of B. One cache line is prefetched every kStepsPerPrefetch
                                               ///< steps, from there on: part of the next panel. May lie outside; kNone: none
  std::vector<Reg> accumulators_in = {};       ///< rows * vectors initial values; kNone: zero
  std::vector<Reg> accumulators_out = {};      ///< rows * vectors results
};

/// Independent multiply-adds that keep the units busy: two start in a cycle, and each takes four cycles (Zen 2 to 5, Skylake and later;
/// Zen 4 starts one of 512 bits a cycle, and needs four).
inline constexpr int kSumsInFlight = 8;
/// How many partial sums (chains) a contraction keeps for each accumulator of a tile, so that kSumsInFlight multiply-adds are independent:
/// 4, 2, or 1 for a tile that is large enough. Step k of the depth goes to chain k % chain_count, for the largest multiple of kStepsPerTrip
/// steps; then halves of the chains are added until one is left, which takes the remaining steps.
int chain_count(int rows, int vectors);
int chain_count(const Contract& contract);
inline constexpr int kStepsPerTrip = 4;  ///< steps of k in an iteration of the loop over them

/// How many neighbouring products of these types one instruction adds up (Contract::products), on targets that have it. 1: no instruction
/// adds up more.
int products_per_instruction(DType a, DType b, DType accumulator);

struct TileInstr;
using TileBlock = std::vector<TileInstr>;

/// One instruction. Which fields an op reads follows from TileOp and from the comments here.
struct TileInstr {
  TileOp op = TileOp::constant;
  Reg result = kNone;  ///< of ops with one result
  TileType type = {};  ///< of the result; of a store: of the value; of a prefetch: of the buffer
  std::vector<Reg> args = {};
  ExprOp expr_op = ExprOp::add;               ///< of expr
  ops::Combine combine = ops::Combine::none;  ///< of reduce
  double number = 0;                          ///< of a constant of a float dtype
  int64_t integer = 0;                        ///< of other constants
  int32_t index = 0;                          ///< of size: which one
  // Of load, store and prefetch.
  int32_t buffer = -1;     ///< number of the buffer
  Reg stride = kNone;      ///< elements from lane to lane (i64 scalar); kNone: 1
  bool broadcast = false;  ///< a load reads one element for all lanes
  bool words = false;      ///< lanes of i32 in a buffer of elements of 8 or 16 bits, of which each lane is 4 or 2 that follow each other
  Reg offsets = kNone;     ///< i64 vector: an element offset for each lane, added to the scalar one, in place of `stride` (gather, scatter)
  Reg mask = kNone;        ///< lanes that are accessed; kNone: all. The other lanes of a load are `fill`
  Reg fill = kNone;        ///< of the result's type; kNone: zero
  bool streaming = false;  ///< a store bypasses the caches
  // Of loop, branch and transpose.
  Reg induction = kNone;                   ///< of a loop: i64 scalar, the value of i
  std::vector<Reg> carried_in = {};        ///< of a loop: initial values of `carried`
  std::vector<Reg> carried = {};           ///< of a loop: values that iterations pass on, as the body reads them
  std::vector<Reg> yields = {};            ///< of a loop: next values of `carried`; of a branch: values that `body` returns
  std::vector<Reg> otherwise_yields = {};  ///< of a branch: values that `otherwise` returns
  std::vector<Reg> results = {};  ///< of a loop: last values of `carried`; of a branch: the returned values; of transpose: the columns
  TileBlock body = {}, otherwise = {};
  int unroll = 1;  ///< of a loop: unroll factor, a hint; it need not divide the trip count
  Contract contract = {};
};

/// One kernel. A call runs tasks [begin, end) on one thread; distinct tasks write disjoint elements.
struct TileKernel {
  std::string name;
  std::vector<Buffer> buffers = {};
  std::vector<TileType> registers = {};  ///< type of each register
  int32_t sizes = 0;                     ///< how many i64 sizes the caller passes
  TileBlock body = {};
  int64_t scratch_bytes() const;  ///< of all scratch buffers of one thread
};

/// Options of a load or store; the fields of TileInstr with these names.
struct MemoryOptions {
  Reg stride = kNone, offsets = kNone, mask = kNone, fill = kNone;
  bool broadcast = false, words = false, streaming = false;
};

/// Appends instructions to a kernel. Where one operand of an expression is a vector, its scalar operands are splat. The callbacks of `loop`
/// and `branch` emit the body and return its yields.
class TileBuilder {
 public:
  /// sums_in_order: sets Contract::in_order of each contraction.
  explicit TileBuilder(TileKernel& kernel, bool sums_in_order = false);
  int32_t argument(DType dtype, bool written);  ///< adds an argument; returns its buffer number
  int32_t scratch(DType dtype, int64_t count);  ///< adds a scratch buffer of `count` elements; returns its number
  Reg integer(int64_t value);                   ///< an i64 scalar constant
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
  Reg dot(Reg a, Reg b, Reg sum);
  Reg pair(Reg low, Reg high);
  Reg reduce(Reg vector, ops::Combine combine);
  Reg first_mask(Reg count, int lanes);
  Reg load(int32_t buffer, Reg offset, int lanes, MemoryOptions options = {});
  void store(int32_t buffer, Reg offset, Reg value, MemoryOptions options = {});
  void prefetch(int32_t buffer, Reg offset);
  std::vector<Reg> transpose(std::vector<Reg> rows);
  std::vector<Reg> loop(Reg from, Reg to, Reg step, std::vector<Reg> carried,
                        const std::function<std::vector<Reg>(Reg i, const std::vector<Reg>& carried)>& body, int unroll = 1);
  /// A loop without carried values.
  void loop(Reg from, Reg to, Reg step, const std::function<void(Reg i)>& body);
  std::vector<Reg> branch(Reg condition, const std::function<std::vector<Reg>()>& then, const std::function<std::vector<Reg>()>& otherwise);
  std::vector<Reg> contract(Contract contract);
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
/// Checks types, single assignment, dominance and buffer numbers. Errors: internal.
Result<void> verify(const TileKernel& kernel);

/// Memory of one argument of `interpret`.
struct BoundBuffer {
  std::byte* data = nullptr;
  int64_t count = 0;  ///< elements
};
/// Runs tasks [begin, end) of the kernel lane by lane in plain C++; the reference for generated code. arguments: in the order of
/// Buffer::argument. Transcendental functions are exact, rounded once. Errors: index_out_of_range for an access outside of a buffer;
/// internal for a kernel that `verify` refuses.
Result<void> interpret(const TileKernel& kernel, std::span<const BoundBuffer> arguments, std::span<const int64_t> sizes, int64_t begin,
                       int64_t end);

}  // namespace tenon::codegen
