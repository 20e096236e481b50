// SPDX-License-Identifier: Apache-2.0
// Reshapes that only join the batch axes of matrices, around a MatMul that broadcasts over as many axes as there are. Exact: each matrix
// of the batch is multiplied with the same one as before. In a late stage: attention is recognised with and without its head axis.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_matmul_batch {
using namespace rewrite;
namespace {

/// The Reshape between [..., rows, columns] with `batch` in front and [n, rows, columns].
bool joins_batch(const DimList* wide, const DimList* narrow) {
  if (!wide || !narrow || narrow->size() != 3 || wide->size() < 4) return false;
  return (*wide)[wide->size() - 2].known_equal((*narrow)[1]) && wide->back().known_equal(narrow->back());
}

bool same_batch(const DimList& a, const DimList& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i + 2 < a.size(); ++i)
    if (!a[i].known_equal(b[i])) return false;
  return true;
}

/// The source of an operand whose batch axes a Reshape joins; taken.
ValueId before_joining(Match& m, ValueId value) {
  const NodeId reshape = m.producer(value, "Reshape");
  if (!reshape || !joins_batch(m.shape(m.operand(reshape, 0)), m.shape(value))) return {};
  m.take(reshape);
  return m.operand(reshape, 0);
}

using Operands = std::vector<ValueId>;

bool both_joined(Match& m) {
  const ValueId a = before_joining(m, m.operand(m.root(), 0)), b = before_joining(m, m.operand(m.root(), 1));
  if (!a || !b || !same_batch(*m.shape(a), *m.shape(b))) return false;
  return m.accept(Operands{a, b});
}

bool join_result(const Match& m, Rewriter& w) {
  const ValueId wide = w("MatMul", m.state<Operands>());
  const auto target = wide ? reshape_target(m, wide, m.result(m.root())) : std::nullopt;
  if (!target) return false;
  return replace_root(m, w, w("Reshape", {wide, w.ints(*target)}));
}

struct SplitOperand {
  size_t slot;  ///< of the operand that is joined
  ValueId source;
  ir::Ints target;  ///< of the Reshape of the other one; none where it is broadcast over the batch
};

/// One matrix for the whole batch.
bool is_single(const DimList& matrices) { return matrices.size() == 2 || (matrices.size() == 3 && matrices[0].known_equal(1)); }

/// Reshape(MatMul(Reshape(a), b)), split again as a was
bool split_again(Match& m) {
  const ValueId product = m.operand(m.root(), 0);
  const NodeId matmul = m.take(product, "MatMul");
  const DimList* y = m.shape(m.result(m.root()));
  if (!matmul || !joins_batch(y, m.shape(product))) return false;
  for (size_t slot : {0, 1}) {
    m.nodes = {m.root(), matmul};
    const ValueId source = before_joining(m, m.operand(matmul, slot)), other = m.operand(matmul, 1 - slot);
    const DimList* matrices = m.shape(other);
    if (!source || !matrices || !same_batch(*m.shape(source), *y)) continue;
    if (is_single(*matrices)) return m.accept(SplitOperand{slot, source, {}});
    if (matrices->size() != 3) continue;
    if (!(*matrices)[0].known_equal((*m.shape(product))[0])) continue;
    DimList wide(y->begin(), y->end() - 2);
    wide.insert(wide.end(), matrices->begin() + 1, matrices->end());
    auto target = reshape_target(*matrices, wide);
    if (!target) continue;
    return m.accept(SplitOperand{slot, source, std::move(*target)});
  }
  return false;
}

bool split_other(const Match& m, Rewriter& w) {
  const SplitOperand& found = m.state<SplitOperand>();
  std::vector<ValueId> inputs = m.node(m.nodes[1]).inputs;
  if (!found.target.empty()) inputs[1 - found.slot] = w("Reshape", {inputs[1 - found.slot], w.ints(found.target)});
  inputs[found.slot] = found.source;
  return replace_root(m, w, w("MatMul", inputs));
}

}  // namespace

RULES(combine_matmul_batch) {
    .sets = "default",
    .rules =
        {
            {.name = "matmul_batch_operands",
             .docs = "both operands' batch axes joined before a MatMul: joined after it",
             .roots = "MatMul",
             .match = both_joined,
             .rewrite = join_result,
             .benefit = 3,
             .covered_patterns = "MatMulReshape2Of3 ReshapeMatMulReshape"},
            {.name = "matmul_batch_result",
             .docs = "one operand's batch axes joined before a MatMul and split after it: the other's are split instead, or broadcast",
             .roots = "Reshape",
             .match = split_again,
             .rewrite = split_other,
             .benefit = 3,
             .covered_patterns = "MatMulReshape2Of3 ReshapeMatMulReshape"},
        },
};

}  // namespace tenon::rules::combine_matmul_batch
