// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/read_blocks.h"

#include "base/blocks/panel_words.h"
#include "codegen/analysis/in_blocks.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/cost/contract_cost.h"
#include "codegen/prepare/pack_operand.h"

namespace tenon::codegen {

namespace {

Expr integer(DType dtype, int64_t value) { return Expr::integer(dtype, value); }
Expr whole(const Expr& e, int64_t by) { return e / integer(DType::i64, by); }
Expr rest(const Expr& e, int64_t by) { return binary(ExprOp::mod, e, integer(DType::i64, by)); }

/// The matrix of an access that looks up rows of it; nullopt where it does not, or the matrix is not in blocks along its rows.
std::optional<InBlocks> looked_up(const NestAccess& access, const Plan& plan) {
  const ir::ConstantRef& constant = plan.arrays[access.array].constant;
  if (!constant || access.flat || access.within || access.index.size() != 2 || !mentions(access.index[0], ExprOp::input))
    return std::nullopt;
  auto of = in_blocks(constant);
  return of && of->format->linear && of->axis == 1 ? std::move(of) : std::nullopt;
}

/// Replaces an access to a matrix by accesses to its packed blocks: the first takes its number, the others are added.
class ElementReader {
 public:
  ElementReader(Nest& nest, size_t access, Plan& plan, const InBlocks& matrix, int64_t panel)
      : nest_(nest),
        replaced_(access),
        plan_(plan),
        format_(*matrix.format),
        packed_(add_packed_blocks(ir::permute(matrix.bytes, {1, 0, 2}), *matrix.format, panel, plan)),
        panel_(whole(nest.accesses[access].index[0], panel)),
        lane_(rest(nest.accesses[access].index[0], panel)),
        k_(nest.accesses[access].index[1]) {}

  /// The element: code * scale + minimum.
  Expr value() {
    const LinearBlocks& linear = *format_.linear;
    // Products with scales of f16 are exact, so that one rounding is left, as in an fma; those with scales of f32 may round too.
    Expr d = scale(0), minimum = linear.has_minimum ? scale(1) : Expr();
    if (linear.sub_blocks) {
      const Expr word = integers();
      const SubBlocks& sub = *linear.sub_blocks;
      if (minimum) minimum = minimum * integer_at(word, sub.scale_bits, sub.minimum_bits, false);
      d = d * integer_at(word, 0, sub.scale_bits, sub.is_signed);
    }
    const Expr value = cast(code(), DType::f32) * d;
    if (minimum) return value + minimum;
    return linear.offset == 0 ? value : value + d * Expr::constant(DType::f32, linear.offset);
  }

 private:
  Expr read(ArrayId array, std::vector<Expr> index) {
    const DType dtype = plan_.arrays[array].dtype;
    const size_t number = replaced_.value_or(nest_.accesses.size());
    replaced_.reset();
    if (number == nest_.accesses.size()) nest_.accesses.emplace_back();
    nest_.accesses[number] = {.array = array, .dtype = dtype, .index = std::move(index), .flat = {}, .within = {}, .fill = {}};
    return Expr::input(static_cast<int>(number), dtype);
  }
  Expr scale(int64_t part) {
    return cast(read(packed_.scales, {panel_, whole(k_, scale_elements(format_)), integer(DType::i64, part), lane_}), DType::f32);
  }
  Expr word(const Expr& number) { return read(packed_.codes, {panel_, whole(k_, format_.elements), simplify(number), lane_}); }
  static Expr bits_of(const Expr& word, const Expr& first, int bits) {
    return binary(ExprOp::bit_and, binary(ExprOp::shift_right, word, cast(first, DType::i32)), integer(DType::i32, (1 << bits) - 1));
  }
  Expr field(const CodeField& field) {
    const Expr inside = rest(k_, kCodesOfUnit), code = rest(k_, field.codes_of_word());
    const Expr unit = whole(rest(k_, format_.elements), kCodesOfUnit) * integer(DType::i64, format_.linear->code_bits);
    const Expr number = unit + integer(DType::i64, field.first_word) + whole(inside, field.codes_of_word());
    const Expr bit = rest(code, kCodesOfSet) * integer(DType::i64, 8) + whole(code, kCodesOfSet) * integer(DType::i64, field.bits);
    return bits_of(word(number), bit, field.bits) * integer(DType::i32, 1 << field.position);
  }
  Expr code() {
    if (!is_in_words(*format_.linear)) return read(packed_.codes, {panel_, k_, lane_});
    const CodeField high = high_field(format_.linear->code_bits);
    const Expr low = field(low_field(format_.linear->code_bits));
    return high.bits == 0 ? low : low + field(high);
  }
  /// The word with the integers of the element's sub-block.
  Expr integers() { return word(integer(DType::i64, code_words(format_)) + whole(integer_bit(), kWordBits)); }
  Expr integer_bit() const {
    const SubBlocks& sub = *format_.linear->sub_blocks;
    return whole(rest(k_, format_.elements), sub.elements) * integer(DType::i64, sub.bits());
  }
  Expr integer_at(const Expr& word, int first, int bits, bool is_signed) const {
    const Expr field = bits_of(word, rest(integer_bit(), kWordBits) + integer(DType::i64, first), bits);
    const Expr sign = integer(DType::i32, 1 << (bits - 1));
    return cast(is_signed ? binary(ExprOp::bit_xor, field, sign) - sign : field, DType::f32);
  }

  Nest& nest_;
  std::optional<size_t> replaced_;  ///< the access whose number the next read takes
  Plan& plan_;
  const BlockFormat& format_;
  PackedBlocks packed_;
  Expr panel_, lane_, k_;
};

}  // namespace

void read_blocks(Nest& nest, Plan& plan, const Target& target) {
  const int64_t panel = int64_t{tile_of_blocks(target).vectors} * target.lanes();
  for (size_t k = nest.accesses.size(); k-- > 0;) {
    const auto matrix = looked_up(nest.accesses[k], plan);
    if (!matrix) continue;
    const Expr value = ElementReader(nest, k, plan, *matrix, panel).value();
    for (NestOutput& o : nest.outputs)
      o.value =
          substitute(o.value, [&](const ExprNode& n) { return n.op == ExprOp::input && n.index == static_cast<int>(k) ? value : Expr(); });
  }
}

}  // namespace tenon::codegen
