// SPDX-License-Identifier: Apache-2.0
// One form of dense layers: MatMul(x, W) on x of any rank, then Add of the bias.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_matmul {
using namespace rewrite;
namespace {

bool plain_gemm(Match& m) {
  const auto& a = m.node(m.root()).attributes;
  if (!is_arithmetic_float(m.dtype(m.result(m.root())))) return false;
  return a.number("alpha", 1) == 1 && (a.number("beta", 1) == 1 || !m.operand(m.root(), 2));
}

ValueId transposed_if(Rewriter& w, ValueId value, bool transposed) {
  return transposed ? w("Transpose", {value}, {{"perm", ir::Ints{1, 0}}}) : value;
}

bool to_matmul(const Match& m, Rewriter& w) {
  const auto& attributes = m.node(m.root()).attributes;
  const ValueId a = transposed_if(w, m.operand(m.root(), 0), attributes.integer("transA", 0) != 0);
  const ValueId b = transposed_if(w, m.operand(m.root(), 1), attributes.integer("transB", 0) != 0);
  ValueId y = w("MatMul", {a, b});
  if (const ValueId bias = m.operand(m.root(), 2)) y = w("Add", {y, bias});
  return replace_root(m, w, y);
}

/// The source of a Reshape that joins all axes but the last into one.
ValueId flattened(const Match& m, ValueId value) {
  const NodeId reshape = m.producer(value, "Reshape");
  if (!reshape) return {};
  const ValueId source = m.operand(reshape, 0);
  const DimList *from = m.shape(source), *to = m.shape(value);
  if (!from || !to || to->size() != 2 || from->size() < 3 || !from->back().known_equal(to->back())) return {};
  return source;
}

/// MatMul(Reshape(x, [-1, K]), W): rows are independent, so the Reshape may come after.
bool flat_rows(Match& m) {
  const ValueId source = flattened(m, m.operand(m.root(), 0));
  if (!source || m.rank(m.operand(m.root(), 1)) != 2) return false;
  return m.accept(source);
}

bool reshape_after(const Match& m, Rewriter& w) {
  const ValueId wide = w("MatMul", {m.state<ValueId>(), m.operand(m.root(), 1)});
  const auto target = wide ? reshape_target(m, wide, m.result(m.root())) : std::nullopt;
  if (!target) return false;
  return replace_root(m, w, w("Reshape", {wide, w.ints(*target)}));
}

/// f(Reshape(x, [-1, K]), c) with c along the last axis at most.
struct Flat {
  ValueId source;
  size_t slot;
};
bool flat_bias(Match& m) {
  for (size_t slot : {0, 1}) {
    const ValueId other = m.operand(m.root(), 1 - slot);
    const DimList* shape = m.is_constant(other) ? m.shape(other) : nullptr;
    if (!shape || shape->size() > 1) continue;
    const ValueId source = flattened(m, m.operand(m.root(), slot));
    if (!source || !m.same_shape(m.operand(m.root(), slot), m.result(m.root()))) continue;
    return m.accept(Flat{source, slot});
  }
  return false;
}

bool bias_before(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  const Flat& found = m.state<Flat>();
  inputs[found.slot] = found.source;
  const ValueId wide = w.clone_with_operands(m.root(), inputs)[0];
  const auto target = wide ? reshape_target(m, wide, m.result(m.root())) : std::nullopt;
  if (!target) return false;
  return replace_root(m, w, w("Reshape", {wide, w.ints(*target)}));
}

}  // namespace

RULES(clean_matmul) {
    .rules =
        {
            {.name = "gemm",
             .docs = "Gemm is MatMul and Add",
             .roots = "Gemm",
             .match = plain_gemm,
             .rewrite = to_matmul,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .allow_outside_uses = true},
            {.name = "matmul_flat",
             .docs = "MatMul of flattened rows: the rows need no flattening",
             .roots = "MatMul",
             .match = flat_rows,
             .rewrite = reshape_after,
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "MatMulReshape2Of3 ReshapeMatMulReshape"},
            {.name = "bias_flat",
             .docs = "a bias or factor along the last axis, before the flattening",
             .roots = "Add Sub Mul",
             .match = flat_bias,
             .rewrite = bias_before,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::clean_matmul
