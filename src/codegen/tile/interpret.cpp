// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "codegen/tile/scalar.h"

namespace tenon::codegen {
namespace {

using Lanes = std::vector<Scalar>;

class Interpreter {
 public:
  Interpreter(const TileKernel& kernel, std::span<const BoundBuffer> arguments, std::span<const int64_t> sizes, int64_t begin, int64_t end)
      : kernel_(kernel), sizes_(sizes), begin_(begin), end_(end), registers_(kernel.registers.size()) {
    for (const Buffer& b : kernel.buffers) {
      if (b.kind == Buffer::Kind::argument) {
        buffers_.push_back(arguments[b.argument]);
        continue;
      }
      scratch_.emplace_back(bytes_of(b.dtype, b.scratch_count), std::byte{0xa5});
      buffers_.push_back({scratch_.back().data(), b.scratch_count});
    }
  }

  Result<void> block(const TileBlock& instructions) {
    for (const TileInstr& in : instructions) TRY(instruction(in));
    return {};
  }

 private:
  int64_t scalar(Reg r) const { return registers_[r][0].integer; }
  int64_t scalar_or(Reg r, int64_t otherwise) const { return r == kNone ? otherwise : scalar(r); }
  const TileType& type(Reg r) const { return kernel_.registers[r]; }

  Result<void> instruction(const TileInstr& in) {
    switch (in.op) {
      case TileOp::load: return load(in);
      case TileOp::store: return store(in);
      case TileOp::prefetch: return {};
      case TileOp::loop: return loop(in);
      case TileOp::branch: return branch(in);
      case TileOp::contract: return contract(in.contract);
      case TileOp::transpose: transpose(in); return {};
      default: registers_[in.result] = value(in); return {};
    }
  }

  Lanes value(const TileInstr& in) const {
    const int lanes = in.type.lanes;
    switch (in.op) {
      case TileOp::constant: return Lanes(lanes, rounded(in.type.element, {in.number, in.integer}));
      case TileOp::size: return {{0, sizes_[in.index]}};
      case TileOp::task_begin: return {{0, begin_}};
      case TileOp::task_end: return {{0, end_}};
      case TileOp::splat: return Lanes(lanes, registers_[in.args[0]][0]);
      case TileOp::reduce: return {reduce(in)};
      default: break;
    }
    Lanes out(lanes);
    for (int i = 0; i < lanes; ++i) out[i] = lane(in, i);
    return out;
  }

  Scalar lane(const TileInstr& in, int i) const {
    if (in.op == TileOp::lanes_iota) return rounded(in.type.element, {static_cast<double>(i), i});
    if (in.op == TileOp::first_mask) return {0, i < scalar(in.args[0])};
    Scalar args[3];
    for (size_t k = 0; k < in.args.size(); ++k) args[k] = registers_[in.args[k]][i];
    if (in.op == TileOp::dot) return dot(in.type.element, args[0].integer, args[1].integer, args[2]);
    if (in.op == TileOp::pair) return rounded(DType::i32, {0, bf16_bits(args[0]) | bf16_bits(args[1]) << 16});
    if (in.op == TileOp::fma) return fused_multiply_add(in.type.element, args[0], args[1], args[2]);
    return apply(in.expr_op, type(in.args.back()).element, in.type.element, std::span(args, in.args.size()));
  }

  static int64_t bf16_bits(const Scalar& of) {
    uint16_t bits = 0;
    write_element(DType::bf16, rounded(DType::bf16, of), reinterpret_cast<std::byte*>(&bits));
    return bits;
  }

  /// The elements of that type in the lowest 32 bits.
  static std::vector<Scalar> group_of(int64_t bits, DType element) {
    const auto low = static_cast<uint32_t>(bits);
    const size_t width = bits_of(element) / 8;
    std::vector<Scalar> out;
    for (size_t at = 0; at < sizeof low; at += width) out.push_back(read_element(element, reinterpret_cast<const std::byte*>(&low) + at));
    return out;
  }

  static Scalar dot(DType sum, int64_t a, int64_t b, Scalar before) {
    const bool bytes = sum == DType::i32;
    return add_group(sum, group_of(a, bytes ? DType::u8 : DType::bf16), group_of(b, bytes ? DType::i8 : DType::bf16), before);
  }

  Scalar reduce(const TileInstr& in) const {
    Lanes v = registers_[in.args[0]];
    for (size_t half = v.size() / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) v[i] = combine(in.combine, in.type.element, v[i], v[i + half]);
    return v[0];
  }

  Result<std::byte*> address(int32_t buffer, int64_t element) const {
    const BoundBuffer& b = buffers_[buffer];
    if (element < 0 || element >= b.count)
      return fail(Code::index_out_of_range, kernel_.name, fmt::format("buffer {} at element {}", buffer, element))
          .expected(fmt::format("0 to {}", b.count - 1));
    return b.data + element * (bits_of(kernel_.buffers[buffer].dtype) / 8);
  }

  int64_t elements_of_word(int32_t buffer) const { return 32 / bits_of(kernel_.buffers[buffer].dtype); }

  int64_t element_of(const TileInstr& in, int64_t offset, int lane) const {
    int64_t at = offset;
    if (in.broadcast) return at;
    if (in.words) return at + lane * elements_of_word(in.buffer);
    if (in.offsets != kNone) return at + registers_[in.offsets][lane].integer;
    return at + lane * scalar_or(in.stride, 1);
  }

  Result<std::byte*> address_of_lane(const TileInstr& in, int64_t offset, int lane) const {
    const int64_t first = element_of(in, offset, lane);
    if (in.words) TRY(address(in.buffer, first + elements_of_word(in.buffer) - 1));
    return address(in.buffer, first);
  }

  bool active(const TileInstr& in, int lane) const { return in.mask == kNone || registers_[in.mask][lane].integer; }

  Result<void> load(const TileInstr& in) {
    Lanes out(in.type.lanes);
    for (int i = 0; i < in.type.lanes; ++i) {
      if (active(in, i)) out[i] = read_element(in.type.element, TRY(address_of_lane(in, scalar(in.args[0]), i)));
      else if (in.fill != kNone) out[i] = registers_[in.fill][i];
    }
    registers_[in.result] = std::move(out);
    return {};
  }

  Result<void> store(const TileInstr& in) {
    const Lanes& v = registers_[in.args[0]];
    for (int i = 0; i < in.type.lanes; ++i)
      if (active(in, i)) write_element(in.type.element, v[i], TRY(address_of_lane(in, scalar(in.args[1]), i)));
    return {};
  }

  void transpose(const TileInstr& in) {
    for (size_t i = 0; i < in.results.size(); ++i) {
      Lanes column;
      for (Reg row : in.args) column.push_back(registers_[row][i]);
      registers_[in.results[i]] = std::move(column);
    }
  }

  void assign(const std::vector<Reg>& to, const std::vector<Reg>& from) {
    std::vector<Lanes> values;
    for (Reg r : from) values.push_back(registers_[r]);
    for (size_t i = 0; i < to.size(); ++i) registers_[to[i]] = std::move(values[i]);
  }

  Result<void> loop(const TileInstr& in) {
    const int64_t to = scalar(in.args[1]), step = scalar(in.args[2]);
    if (step <= 0) return fail(Code::internal, kernel_.name, "loop step is not positive");
    assign(in.carried, in.carried_in);
    for (int64_t i = scalar(in.args[0]); i < to; i += step) {
      registers_[in.induction] = {{0, i}};
      TRY(block(in.body));
      assign(in.carried, in.yields);
    }
    assign(in.results, in.carried);
    return {};
  }

  Result<void> branch(const TileInstr& in) {
    const bool taken = scalar(in.args[0]);
    TRY(block(taken ? in.body : in.otherwise));
    assign(in.results, taken ? in.yields : in.otherwise_yields);
    return {};
  }

  Result<void> contract(const Contract& c) {
    std::vector<Lanes> acc;
    for (Reg r : c.accumulators_in) acc.push_back(r == kNone ? Lanes(c.lanes) : registers_[r]);
    const int64_t depth = scalar(c.depth);
    const int chains = chain_count(c);
    const int64_t chained = chains > 1 ? depth - depth % kStepsPerTrip : 0;
    std::vector<std::vector<Lanes>> sums(static_cast<size_t>(chains), std::vector<Lanes>(acc.size(), Lanes(c.lanes)));
    sums[0] = std::move(acc);
    for (int64_t k = 0; k < chained; ++k) TRY(contract_step(c, k, sums[k % chains]));
    for (; sums.size() > 1; sums.resize(sums.size() / 2))
      for (size_t k = 0; k < sums.size() / 2; ++k) add(c.accumulator, sums[sums.size() / 2 + k], sums[k]);
    acc = std::move(sums[0]);
    for (int64_t k = chained; k < depth; ++k) TRY(contract_step(c, k, acc));
    for (size_t i = 0; i < acc.size(); ++i) registers_[c.accumulators_out[i]] = std::move(acc[i]);
    return {};
  }

  static void add(DType dtype, const std::vector<Lanes>& from, std::vector<Lanes>& to) {
    for (size_t i = 0; i < to.size(); ++i)
      for (size_t lane = 0; lane < to[i].size(); ++lane) {
        const Scalar both[] = {to[i][lane], from[i][lane]};
        to[i][lane] = apply(ExprOp::add, dtype, dtype, both);
      }
  }

  /// The elements of B of step k, times the scale; 0 in lanes that the mask excludes.
  Result<std::vector<Scalar>> panel_row(const Contract& c, int64_t k) {
    const int width = c.vectors * c.lanes * c.products;
    const int64_t b_at = scalar_or(c.b_offset, 0) + k * scalar_or(c.b_k_stride, width);
    std::vector<Scalar> b(static_cast<size_t>(width));
    for (int i = 0; i < width; ++i) {
      const int lane = i / c.products - (c.vectors - 1) * c.lanes;
      if (lane >= 0 && c.b_mask != kNone && !registers_[c.b_mask][lane].integer) continue;
      b[i] = TRY(contract_operand(c, c.b, b_at + i));
    }
    if (c.scale < 0) return b;
    const Scalar scale = TRY(contract_operand(c, c.scale, scalar_or(c.scale_offset, 0) + k * scalar_or(c.scale_k_stride, 1)));
    for (Scalar& element : b) {
      const Scalar both[] = {element, scale};
      element = apply(ExprOp::mul, c.accumulator, c.accumulator, both);
    }
    return b;
  }

  /// The group of A from element `at` on. Elements beyond the buffer are 113, so that results differ where B lacks zeros for them.
  Result<std::vector<Scalar>> group_of_a(const Contract& c, int64_t at) {
    std::vector<Scalar> a{TRY(contract_operand(c, c.a, at))};
    for (int j = 1; j < c.products; ++j)
      a.push_back(at + j < buffers_[c.a].count ? TRY(contract_operand(c, c.a, at + j)) : Scalar{113, 113});
    return a;
  }

  Result<void> contract_step(const Contract& c, int64_t k, std::vector<Lanes>& acc) {
    const std::vector<Scalar> b = TRY(panel_row(c, k));
    for (int r = 0; r < c.rows; ++r) {
      const int line = c.rows_per_line > 0 ? c.rows_per_line : c.rows;
      const int64_t row_at = r % line * scalar_or(c.a_row_stride, 0) + r / line * scalar_or(c.a_line_stride, 0);
      const int64_t a_at = scalar_or(c.a_offset, 0) + row_at + k * scalar_or(c.a_k_stride, c.products);
      const std::vector<Scalar> a = TRY(group_of_a(c, a_at));
      for (int v = 0; v < c.vectors; ++v)
        for (int i = 0; i < c.lanes; ++i) {
          Scalar& sum = acc[r * c.vectors + v][i];
          const size_t at = static_cast<size_t>(v * c.lanes + i) * a.size();
          sum = a.size() == 1 ? fused_multiply_add(c.accumulator, a[0], b[at], sum)
                              : add_group(c.accumulator, a, std::span(b).subspan(at, a.size()), sum);
        }
    }
    return {};
  }

  Result<Scalar> contract_operand(const Contract& c, int32_t buffer, int64_t at) const {
    const DType d = kernel_.buffers[buffer].dtype;
    const Scalar v = read_element(d, TRY(address(buffer, at)));
    return d == c.accumulator ? v : apply(ExprOp::cast, d, c.accumulator, std::span(&v, 1));
  }

  const TileKernel& kernel_;
  std::span<const int64_t> sizes_;
  int64_t begin_, end_;
  std::vector<BoundBuffer> buffers_;
  std::vector<std::vector<std::byte>> scratch_;
  std::vector<Lanes> registers_;
};

}  // namespace

Result<void> interpret(const TileKernel& kernel, std::span<const BoundBuffer> arguments, std::span<const int64_t> sizes, int64_t begin,
                       int64_t end) {
  TRY(verify(kernel));
  size_t needed = 0;
  for (const Buffer& b : kernel.buffers) needed += b.kind == Buffer::Kind::argument;
  if (arguments.size() < needed || static_cast<int32_t>(sizes.size()) < kernel.sizes)
    return fail(Code::internal, kernel.name, "too few arguments or sizes");
  return Interpreter(kernel, arguments, sizes, begin, end).block(kernel.body);
}

}  // namespace tenon::codegen
