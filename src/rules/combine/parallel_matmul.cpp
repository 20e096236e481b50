// SPDX-License-Identifier: Apache-2.0
// MatMuls of one input with constant weights of equal height are one MatMul with the weights side by side, and a Split. Each
// column of the product is the same sum as before; biases go the same way. The input is read once instead of k times. Weights
// that are stored in different ways (blocks of two formats) stay apart: side by side they would be decoded.
#include <algorithm>

#include "ir/quantized/storage.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::combine_parallel_matmul {
using namespace rewrite;
namespace {

struct Branch {
  NodeId matmul, add;  ///< add: none where the branch has no bias
  ValueId weight, bias, result;
  int64_t columns;
};
using Branches = std::vector<Branch>;

/// The Add of a constant vector that is the only user of a product.
void find_bias(const Match& m, Branch& branch) {
  const NodeId user = m.graph().only_user(branch.result);
  if (!user || !m.node(user).is("Add") || m.node(user).inputs[0] == m.node(user).inputs[1]) return;
  const ValueId other = m.operand(user, m.operand(user, 0) == branch.result ? 1 : 0);
  const DimList* shape = m.shape(other);
  if (!m.is_constant(other) || !shape || shape->size() != 1 || !(*shape)[0].known_equal(branch.columns)) return;
  branch.add = user;
  branch.bias = other;
  branch.result = m.result(user);
}

std::optional<Branch> branch_at(const Match& m, NodeId node, ValueId input, const DimList* like) {
  if (!m.node(node).is("MatMul") || m.operand(node, 0) != input) return std::nullopt;
  const ValueId weight = m.operand(node, 1);
  const DimList* shape = m.shape(weight);
  if (!m.is_constant(weight) || !shape || shape->size() != 2 || !(*shape)[1].is_number()) return std::nullopt;
  if (like && (!(*like)[0].known_equal((*shape)[0]))) return std::nullopt;
  Branch branch{node, {}, weight, {}, m.result(node), (*shape)[1].value()};
  find_bias(m, branch);
  return branch;
}

bool siblings(Match& m) {
  const ValueId input = m.operand(m.root(), 0);
  const auto rank = m.rank(input);
  const auto first = branch_at(m, m.root(), input, nullptr);
  if (!first || !rank || *rank < 2 || !is_arithmetic_float(m.dtype(input))) return false;
  const auto storage = [&](const Branch& b) { return ir::storage_of(*m.value(b.weight).constant); };
  Branches branches;
  for (const ir::Use& use : m.value(input).uses) {
    if (!use.node || use.slot != 0) continue;
    auto branch = branch_at(m, use.node, input, m.shape(first->weight));
    if (branch && !branch->add == !first->add && storage(*branch) == storage(*first)) branches.push_back(std::move(*branch));
  }
  if (branches.size() < 2) return false;
  std::ranges::sort(branches, [&](const Branch& a, const Branch& b) { return m.graph().is_before(a.matmul, b.matmul); });
  if (branches[0].matmul != m.root()) return false;
  return m.accept(std::move(branches));
}

bool operand_of_head_split(const Match& m, Rewriter& w) {
  const auto& branches = m.state<Branches>();
  std::vector<ir::ConstantRef> weights, biases;
  std::vector<int64_t> columns;
  for (const Branch& b : branches) {
    weights.push_back(m.value(b.weight).constant);
    columns.push_back(b.columns);
    if (b.bias) biases.push_back(m.value(b.bias).constant);
  }
  ValueId all = w("MatMul", {m.operand(m.root(), 0), w.constant(ir::concat(weights, 1))});
  if (!biases.empty()) all = w("Add", {all, w.constant(ir::concat(biases, 0))});
  const auto parts = w.many("Split", {all, w.ints(columns)}, branches.size(), {{"axis", int64_t{-1}}});
  for (size_t i = 0; i < branches.size() && i < parts.size(); ++i) w.replace(branches[i].result, parts[i]);
  return true;
}

}  // namespace

RULES(combine_parallel_matmul) {
    .rules =
        {
            {.name = "parallel_matmul",
             .docs = "MatMuls of one input with constant weights (queries, keys, values) are one MatMul and a Split",
             .roots = "MatMul",
             .match = siblings,
             .rewrite = operand_of_head_split,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::combine_parallel_matmul
