// SPDX-License-Identifier: Apache-2.0
// Constant weights of 4 or 8 bits with a scale for each group of a row become constants in blocks, which products unpack in registers. An
// element is fma(code, scale, -zero * scale): the same real number as (code - zero) * scale, whose minimum is rounded once.
#include <algorithm>

#include "ir/quantized/grouped_constant.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/group_codes.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_grouped_weights {
using namespace rewrite;
namespace {

/// Operands that hold a matrix [rows, columns] of codes in groups along the columns.
struct Source {
  ValueId data, scales, zeros;  ///< zeros: none where they are missing
  int64_t rows, columns, group;
  int bits;
  bool transposed = false;  ///< the operands are [columns, rows] and [columns / group, rows]
  bool in_bytes = false;    ///< numbers of 4 bits are two in a u8; each row of zero points begins at a byte

  int64_t groups() const { return columns / group; }
};

bool can_be_blocks(Match& m, const Source& s) {
  if (s.bits != 4 && s.bits != 8) return m.refuse("neither 4 nor 8 bits");
  if (ir::block_of_group(s.group, s.columns) == 0) return m.refuse("no whole groups of a multiple of 32 elements");
  if (!is_read_constant(m, s.data) || !is_read_constant(m, s.scales) || (s.zeros && !is_read_constant(m, s.zeros)))
    return m.refuse("codes, scales or zero points are not constant");
  const int64_t codes = s.rows * s.columns, scales = s.rows * s.groups();
  if (m.dtype(s.scales) != DType::f32) return m.refuse("the scales are no f32", s.scales);
  if (s.rows <= 0 || known_count(m, s.data) != (s.in_bytes ? codes * s.bits / 8 : codes) || known_count(m, s.scales) != scales)
    return m.refuse("codes or scales of other sizes");
  if (!s.zeros) return true;
  const bool packed = s.in_bytes && m.dtype(s.zeros) == DType::u8;
  const int64_t zeros = packed ? s.rows * ((s.groups() * s.bits + 7) / 8) : scales;
  return known_count(m, s.zeros) == zeros || m.refuse("zero points of another size", s.zeros);
}

/// missing: the zero point, as a code, where there is none. Errors: those of grouped_constant().
Result<ir::ConstantRef> blocks_of(const Match& m, const Source& s, int missing) {
  const auto bytes = [&](ValueId v) { return ir::materialise(*m.value(v).constant); };
  const auto oriented = [&](std::vector<float> numbers) {
    return s.transposed ? ir::transposed(numbers, s.groups(), s.rows) : std::move(numbers);
  };
  ir::GroupedCodes out{.rows = s.rows, .columns = s.columns, .code_bits = s.bits, .group = s.group};
  const Tensor data = TRY(bytes(s.data)), scales = TRY(bytes(s.scales));
  out.codes = codes_in_rows(data, s.bits, 1, s.rows * s.columns);
  if (s.transposed) out.codes = ir::transposed(out.codes, s.columns, s.rows);
  out.scales = oriented(floats_of(scales));
  if (!s.zeros) {
    out.zeros.assign(out.scales.size(), static_cast<float>(missing));
  } else {
    const Tensor zeros = TRY(bytes(s.zeros));
    const bool rows_of_bytes = s.in_bytes && zeros.dtype() == DType::u8;
    if (zeros.dtype() == DType::f32) out.zeros = oriented(floats_of(zeros));
    else
      out.zeros = oriented(floats_of(rows_of_bytes ? codes_in_rows(zeros, s.bits, s.rows, s.groups())
                                                   : codes_in_rows(zeros, s.bits, 1, s.rows * s.groups())));
  }
  return ir::grouped_constant(out);
}

bool n_bits(Match& m) {
  enum Input : size_t { kA, kB, kScales, kZeros, kGroups };
  const auto& how = m.node(m.root()).attributes;
  const ValueId zeros = m.operand(m.root(), kZeros);
  if (m.dtype(m.operand(m.root(), kA)) != DType::f32) return m.refuse("operand A is no f32");
  if (m.operand(m.root(), kGroups)) return m.refuse("g_idx");
  if (zeros && m.dtype(zeros) != DType::u8 && m.dtype(zeros) != DType::f32) return m.refuse("zero points of another type", zeros);
  const Source s{m.operand(m.root(), kB),
                 m.operand(m.root(), kScales),
                 zeros,
                 how.integer("N", 0),
                 how.integer("K", 0),
                 how.integer("block_size", 0),
                 static_cast<int>(how.integer("bits", 4)),
                 false,
                 true};
  return can_be_blocks(m, s) && m.accept(s);
}

bool product_of_blocks(const Match& m, Rewriter& w) {
  const auto& s = m.state<Source>();
  auto weights = blocks_of(m, s, 1 << (s.bits - 1));
  if (!weights) return false;
  ValueId y = w("MatMul", {m.operand(m.root(), 0), w.constant(ir::permute(std::move(*weights), {1, 0}))});
  if (const ValueId bias = m.operand(m.root(), 5)) y = w("Add", {y, bias});
  return replace_root(m, w, y);
}

/// Whether every user reads the matrix as a product does whose depth lies along `axis`, or looks up whole rows along axis 1.
bool is_read_along(const Match& m, ValueId matrix, int axis) {
  const auto reads = [&](const ir::Use& use) {
    if (!use.node) return false;
    const Node& user = m.node(use.node);
    if (user.is("MatMul")) return axis == 0 && use.slot == 1;
    if (user.is("Gather")) return axis == 1 && use.slot == 0 && m.axis(use.node, "axis", 0, matrix) == 0;
    return user.is("Transpose") && m.ints(use.node, "perm") == ir::Ints{1, 0} && is_read_along(m, m.result(use.node), 1 - axis);
  };
  const auto& uses = m.value(matrix).uses;
  return !uses.empty() && std::ranges::all_of(uses, reads);
}

bool dequantized(Match& m) {
  const ValueId data = m.operand(m.root(), 0), zeros = m.operand(m.root(), 2), y = m.result(m.root());
  const DType dtype = m.dtype(data);
  const auto axis = m.axis(m.root(), "axis", 1, data);
  const int64_t group = m.node(m.root()).attributes.integer("block_size", 0);
  if (group == 0) return m.refuse("no scales for groups");
  if (dtype != DType::i4 && dtype != DType::u4 && dtype != DType::i8 && dtype != DType::u8) return m.refuse("neither 4 nor 8 bits");
  if (m.dtype(y) != DType::f32) return m.refuse("the result is no f32");
  const DimList* const shape = m.shape(data);
  if (!axis || !shape || shape->size() != 2 || !(*shape)[0].is_number() || !(*shape)[1].is_number()) return m.refuse("no matrix");
  if (!is_read_along(m, y, *axis)) return m.refuse("not read by products along the groups");
  const Source s{data,
                 m.operand(m.root(), 1),
                 zeros,
                 (*shape)[static_cast<size_t>(1 - *axis)].value(),
                 (*shape)[static_cast<size_t>(*axis)].value(),
                 group,
                 bits_of(dtype),
                 *axis == 0};
  return can_be_blocks(m, s) && m.accept(s);
}

bool to_blocks(const Match& m, Rewriter& w) {
  const auto& s = m.state<Source>();
  auto weights = blocks_of(m, s, is_signed(m.dtype(s.data)) ? 1 << (s.bits - 1) : 0);
  if (!weights) return false;
  return replace_root(m, w, w.constant(s.transposed ? ir::permute(std::move(*weights), {1, 0}) : std::move(*weights)));
}

bool gathered(Match& m) {
  enum Input : size_t { kData, kIndices, kScales, kZeros };
  const ValueId data = m.operand(m.root(), kData);
  const auto& how = m.node(m.root()).attributes;
  const DimList* const shape = m.shape(data);
  const bool bytes = m.dtype(data) == DType::u8;
  const auto bits = bytes ? how.integer("bits", 4) : int64_t{bits_of(m.dtype(data))};
  if (!shape || shape->size() != 2 || !(*shape)[0].is_number() || !(*shape)[1].is_number()) return m.refuse("no matrix");
  if (m.axis(m.root(), "gather_axis", 0, data) != 0 || m.axis(m.root(), "quantize_axis", 1, data) != 1)
    return m.refuse("other axes than rows, with groups along them");
  const Source s{data,
                 m.operand(m.root(), kScales),
                 m.operand(m.root(), kZeros),
                 (*shape)[0].value(),
                 (*shape)[1].value() * (bytes && bits > 0 ? 8 / bits : 1),
                 how.integer("block_size", 128),
                 static_cast<int>(bits),
                 false,
                 bytes};
  return can_be_blocks(m, s) && m.accept(s);
}

bool rows_of_blocks(const Match& m, Rewriter& w) {
  const auto& s = m.state<Source>();
  auto table = blocks_of(m, s, m.dtype(s.data) == DType::u4 ? 0 : 1 << (s.bits - 1));
  if (!table) return false;
  return replace_root(m, w, w("Gather", {w.constant(std::move(*table)), m.operand(m.root(), 1)}, {{"axis", int64_t{0}}}));
}

}  // namespace

RULES(fuse_grouped_weights) {
    .rules =
        {
            {.name = "n_bits_product",
             .docs = "a product with constant weights of 4 or 8 bits in groups is one with a constant in blocks",
             .roots = "com.microsoft::MatMulNBits",
             .match = n_bits,
             .rewrite = product_of_blocks,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .allow_outside_uses = true},
            {.name = "dequantized_groups",
             .docs = "a constant matrix that is dequantized group by group, for products along the groups, is a constant in blocks",
             .roots = "DequantizeLinear",
             .match = dequantized,
             .rewrite = to_blocks,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .allow_outside_uses = true},
            {.name = "gathered_groups",
             .docs = "rows of a constant table of 4 or 8 bits in groups are rows of a constant in blocks",
             .roots = "com.microsoft::GatherBlockQuantized",
             .match = gathered,
             .rewrite = rows_of_blocks,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::fuse_grouped_weights
