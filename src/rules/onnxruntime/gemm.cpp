// SPDX-License-Identifier: Apache-2.0
// Products of matrices with what follows them: a row to add, an activation; and without the reshapes around them.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_gemm {
using namespace rewrite;
namespace {

bool activated_gemm(Match& m) {
  const NodeId gemm = m.take(m.operand(m.root(), 0), "Gemm");
  return gemm && m.dtype(m.result(gemm)) == DType::f32;
}

bool to_fused_gemm(const Match& m, Rewriter& w) {
  const Node &root = m.node(m.root()), &gemm = m.node(m.nodes[1]);
  std::vector<std::pair<std::string, ir::Attribute>> how{{"activation", std::string(root.op->name)}};
  const bool hard = root.is("HardSigmoid");
  if (hard || root.is("LeakyRelu")) how.emplace_back("activation_alpha", root.attributes.number("alpha", hard ? 0.2f : 0.01f));
  if (hard) how.emplace_back("activation_beta", root.attributes.number("beta", 0.5f));
  for (const auto& [name, value] : gemm.attributes) how.emplace_back(name, value);
  return replace_root(m, w, w("com.microsoft::FusedGemm", gemm.inputs, std::move(how)));
}

/// The operand of a Reshape that joins all axes but the last.
ValueId unflattened(const Match& m, ValueId rows) {
  const NodeId reshape = m.producer(rows, "Reshape");
  const ValueId x = reshape ? m.operand(reshape, 0) : ValueId{};
  const DimList *from = m.shape(x), *to = m.shape(rows);
  const bool joins = from && to && to->size() == 2 && from->size() > 2 && from->back().known_equal(to->back());
  return joins ? x : ValueId{};
}

/// Gemm on flattened rows, on the right sizes and in f32.
bool flat_gemm(Match& m, NodeId gemm) {
  const ir::Attributes& a = m.node(gemm).attributes;
  return a.integer("transA", 0) == 0 && a.number("beta", 1) == 1 && m.dtype(m.result(gemm)) == DType::f32 &&
         unflattened(m, m.operand(gemm, 0));
}

ValueId unflattened_gemm(const Match& m, Rewriter& w, NodeId gemm) {
  const ir::Attributes& a = m.node(gemm).attributes;
  const ValueId y = w("com.microsoft::FusedMatMul", {unflattened(m, m.operand(gemm, 0)), m.operand(gemm, 1)},
                      {{"alpha", a.number("alpha", 1)}, {"transB", a.integer("transB", 0)}});
  return m.operand(gemm, 2) ? w("Add", {y, m.operand(gemm, 2)}) : y;
}

/// Reshape(Gemm(Reshape(x))) whose result has the leading axes of x again.
bool gemm_between(Match& m) {
  const NodeId gemm = m.take(m.operand(m.root(), 0), "Gemm");
  if (!gemm || !flat_gemm(m, gemm)) return false;
  const ValueId c = m.operand(gemm, 2);
  if (c && m.rank(c) != 1) return m.refuse("the summand is no row");
  const ValueId x = unflattened(m, m.operand(gemm, 0));
  const DimList *in = m.shape(x), *out = m.shape(m.result(m.root()));
  if (!in || !out || in->size() != out->size()) return false;
  for (size_t k = 0; k + 1 < in->size(); ++k)
    if (!(*in)[k].known_equal((*out)[k])) return m.refuse("the reshape that follows does not undo the one before");
  return out->back().known_equal(m.shape(m.result(gemm))->back());
}

bool without_reshapes(const Match& m, Rewriter& w) { return replace_root(m, w, unflattened_gemm(m, w, m.nodes[1])); }

/// Gemm without a summand on flattened rows: the product first, then the reshape, where others may take it up.
bool is_flat_gemm(Match& m) {
  const DimList* out = m.shape(m.result(m.root()));
  return flat_gemm(m, m.root()) && !m.operand(m.root(), 2) && out && out->back().is_number();
}

bool reshape_later(const Match& m, Rewriter& w) {
  const ValueId y = unflattened_gemm(m, w, m.root());
  return replace_root(m, w, w("Reshape", {y, w.ints({-1, m.shape(m.result(m.root()))->back().value()})}));
}

}  // namespace

RULES(onnxruntime_gemm) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "gemm_add",
             .docs = "a product of matrices and a row to add are Gemm",
             .equation = "Add(MatMul(?a, ?b), ?c) => Gemm(?a, ?b, ?c) where dtype(?a) == f32, rank(?a) == 2, rank(?b) == 2, rank(?c) == 1,"
                         " dim(?c, 0) == dim(?b, 1)",
             .numerics = Numerics::reassociating,
             .benefit = 5},
            {.name = "gemm_add_fused",
             .docs = "the same for a product with transposed operands",
             .equation = "Add(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0), ?c)"
                         " => Gemm(?a, ?b, ?c, alpha=?s, transA=?t, transB=?u)"
                         " where dtype(?a) == f32, rank(?a) == 2, rank(?b) == 2, rank(?c) == 1, dim(?c, 0) == dim(?b, subtract(1, ?u))",
             .numerics = Numerics::reassociating,
             .benefit = 5},
            {.name = "fused_gemm",
             .docs = "an activation after Gemm",
             .roots = "Relu Tanh Sigmoid LeakyRelu HardSigmoid",
             .match = activated_gemm,
             .rewrite = to_fused_gemm,
             .benefit = 5},
            {.name = "reshape_gemm_reshape",
             .docs = "rows flattened for Gemm and put back: FusedMatMul takes them as they are",
             .roots = "Reshape",
             .match = gemm_between,
             .rewrite = without_reshapes,
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "ReshapeGemmReshape"},
            {.name = "reshape_gemm",
             .docs = "rows flattened for Gemm are flattened after it, where the next reshape takes that up",
             .roots = "Gemm",
             .match = is_flat_gemm,
             .rewrite = reshape_later,
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .allow_outside_uses = true,
             .covered_patterns = "ReshapeGemm"},
        },
};

}  // namespace tenon::rules::onnxruntime_gemm
