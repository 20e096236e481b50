// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/read_blocks.h"

#include "codegen/analysis/in_blocks.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/cost/contract_cost.h"
#include "codegen/prepare/pack_operand.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kCodesOfNumber = ir::Constant::PackBlocks::kCodesOfNumber;

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

/// Reads the access's element as code * scale + minimum; accesses are added, and the first takes its number.
Expr unpacked(Nest& nest, size_t number, const InBlocks& matrix, Plan& plan, int64_t panel) {
  const LinearBlocks& linear = *matrix.format->linear;
  const PackedBlocks packed = add_packed_blocks(ir::permute(matrix.bytes, {1, 0, 2}), *matrix.format, panel, plan);
  const Expr row = nest.accesses[number].index[0], k = nest.accesses[number].index[1];
  const bool short_codes = linear.code_bits == 4;
  const auto read = [&](ArrayId array, std::vector<Expr> index) {
    return NestAccess{.array = array, .dtype = plan.arrays[array].dtype, .index = std::move(index), .flat = {}, .within = {}, .fill = {}};
  };
  nest.accesses[number] = read(packed.codes, {whole(row, panel), short_codes ? whole(k, kCodesOfNumber) : k, rest(row, panel)});
  const auto scale = [&](int64_t part) {
    nest.accesses.push_back(
        read(packed.scales, {whole(row, panel), whole(k, matrix.format->elements), integer(DType::i64, part), rest(row, panel)}));
    return cast(Expr::input(static_cast<int>(nest.accesses.size()) - 1, DType::f16), DType::f32);
  };
  Expr code = Expr::input(static_cast<int>(number), nest.accesses[number].dtype);
  if (short_codes) {
    const Expr bits = cast(rest(k, kCodesOfNumber) * integer(DType::i64, 4), DType::i32);
    code = binary(ExprOp::bit_and, binary(ExprOp::shift_right, code, bits), integer(DType::i32, 15));
  }
  // Both products are exact, so that one rounding is left, as in an fma.
  const Expr d = scale(0), value = cast(code, DType::f32) * d;
  if (linear.has_minimum) return value + scale(1);
  return linear.offset == 0 ? value : value + d * Expr::constant(DType::f32, linear.offset);
}

}  // namespace

void read_blocks(Nest& nest, Plan& plan, const Target& target) {
  const int64_t panel = int64_t{tile_of_blocks(target).vectors} * target.lanes();
  for (size_t k = nest.accesses.size(); k-- > 0;) {
    const auto matrix = looked_up(nest.accesses[k], plan);
    if (!matrix) continue;
    const Expr value = unpacked(nest, k, *matrix, plan, panel);
    for (NestOutput& o : nest.outputs)
      o.value =
          substitute(o.value, [&](const ExprNode& n) { return n.op == ExprOp::input && n.index == static_cast<int>(k) ? value : Expr(); });
  }
}

}  // namespace tenon::codegen
