// SPDX-License-Identifier: Apache-2.0
// Nodes that give their operand back. Each proof is the same: result and operand are equal element by element and in type.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::clean_noop {
using namespace rewrite;
namespace {

bool give_back_first(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.operand(m.root(), 0));
  return true;
}

/// The result has the type of operand 0, provably.
bool same_type(Match& m) { return m.operand(m.root(), 0) && m.same_type(m.result(m.root()), m.operand(m.root(), 0)); }

bool unused_mask(Match& m) {
  const Node& node = m.node(m.root());
  const bool training = m.operand(m.root(), 2) && !m.is_number(m.operand(m.root(), 2), 0);
  return !training && (node.outputs.size() < 2 || !node.outputs[1] || m.use_count(node.outputs[1]) == 0);
}

/// A constant of which every element is `wanted`, a zero with the same sign.
bool all_are(const Match& m, ValueId value, double wanted) {
  const Tensor* t = m.is_constant(value) ? m.graph().tensor_of(value) : nullptr;
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return false;
  for (int64_t i = 0; i < t->count(); ++i) {
    const double x = is_integer(t->dtype()) ? static_cast<double>(t->integer(i)) : t->number(i);
    if (x != wanted || std::signbit(x) != std::signbit(wanted)) return false;
  }
  return true;
}

/// x - 0, x * 1, x / 1, x^1, x + -0 (of integers: x + 0) where the other operand does not widen the shape.
bool neutral(Match& m) {
  const Node& node = m.node(m.root());
  const bool adds = node.is("Add");
  const double number = adds && is_float(m.dtype(m.result(m.root()))) ? -0.0 : adds || node.is("Sub") ? 0.0 : 1.0;
  for (size_t side : {1, 0}) {
    if (side == 0 && !adds && !node.is("Mul")) break;
    const ValueId other = m.operand(m.root(), side), data = m.operand(m.root(), 1 - side);
    if (!all_are(m, other, number) || !m.same_type(m.result(m.root()), data)) continue;
    m.keep(data);
    return true;
  }
  return false;
}

/// In f16 an epsilon below 3e-8 is 0; the sum under the root says that this is a norm.
bool may_be_epsilon(const Match& m) {
  if (m.dtype(m.result(m.root())) != DType::f16) return false;
  return std::ranges::any_of(m.value(m.result(m.root())).uses, [&](const ir::Use& use) { return use.node && m.node(use.node).is("Sqrt"); });
}

/// x + 0 is x up to the sign of a zero.
bool plus_zero(Match& m) {
  for (size_t side : {1, 0}) {
    const ValueId other = m.operand(m.root(), side), data = m.operand(m.root(), 1 - side);
    if (!m.is_constant(other) || !m.is_number(other, 0) || !m.same_type(m.result(m.root()), data)) continue;
    if (may_be_epsilon(m)) return m.refuse("a zero under a root in f16 may be an epsilon that was rounded");
    m.keep(data);
    return true;
  }
  return false;
}

bool give_kept(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.kept<ValueId>());
  return true;
}

bool identity_order(Match& m) {
  const auto perm = m.ints(m.root(), "perm");
  if (!perm) return false;
  for (size_t i = 0; i < perm->size(); ++i)
    if ((*perm)[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool zero_pads(Match& m) {
  const auto pads = m.ints(m.operand(m.root(), 1));
  return pads && std::ranges::all_of(*pads, [](int64_t p) { return p == 0; }) && same_type(m);
}

bool single_operand(Match& m) { return m.node(m.root()).explicit_inputs == 1 && same_type(m); }

/// One part as large as the whole.
bool single_part(Match& m) { return m.node(m.root()).outputs.size() == 1 && same_type(m); }

/// A slice as long as its operand, with steps of one, starts at its start.
bool whole_slice(Match& m) {
  if (!same_type(m)) return false;
  const ValueId steps = m.operand(m.root(), 4);
  return !steps || m.is_number(steps, 1);
}

/// Parts of size 0 along the axis add nothing.
bool empty_part(Match& m) {
  const Node& node = m.node(m.root());
  const auto axis = m.axis(m.root(), "axis", 0, m.result(m.root()));
  if (!axis || node.explicit_inputs < 2) return false;
  std::vector<ValueId> kept;
  for (size_t i = 0; i < node.explicit_inputs; ++i) {
    const DimList* shape = m.shape(node.inputs[i]);
    if (!shape || !(*shape)[*axis].known_equal(0)) kept.push_back(node.inputs[i]);
  }
  if (kept.empty() || kept.size() == node.explicit_inputs) return false;
  m.keep(std::move(kept));
  return true;
}

bool without_empty_parts(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w.again(m.root(), m.kept<std::vector<ValueId>>())[0]);
  return true;
}

bool dtype_kept(Match& m) {
  return m.dtype(m.result(m.root())) == m.dtype(m.operand(m.root(), 0)) && m.dtype(m.operand(m.root(), 0)) != DType::none;
}
bool always(Match&) { return true; }

}  // namespace

RULES(clean_noop) {
    .rules =
        {
            {.name = "identity",
             .docs = "Identity(x) is x",
             .roots = "Identity",
             .match = always,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Identity"},
            {.name = "dropout",
             .docs = "Dropout is Identity at inference",
             .roots = "Dropout",
             .match = unused_mask,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Dropout"},
            {.name = "cast_same",
             .docs = "Cast to the dtype that is there",
             .roots = "Cast CastLike",
             .match = dtype_kept,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Cast"},
            {.name = "transpose_identity",
             .docs = "Transpose that leaves every axis where it is",
             .roots = "Transpose",
             .match = identity_order,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Identity TransposeTranspose"},
            {.name = "reshape_same",
             .docs = "Reshape, Expand and their kin to the shape that is there",
             .roots = "Reshape Expand Flatten Squeeze Unsqueeze Tile",
             .match = same_type,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Expand Reshape ShapedBasedReshape Identity"},
            {.name = "add_zero",
             .docs = "x+0 is x (but for -0+0, which is 0)",
             .roots = "Add",
             .match = plus_zero,
             .rewrite = give_kept,
             .numerics = Numerics::reassociating,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default",
             .seeds = "Identity"},
            {.name = "neutral_operand",
             .docs = "x-0, x*1, x/1 are x, and so are x + -0 and integers + 0",
             .roots = "Add Sub Mul Div",
             .match = neutral,
             .rewrite = give_kept,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Identity"},
            {.name = "pow_one",
             .docs = "x to the power of 1",
             .roots = "Pow",
             .match = neutral,
             .rewrite = give_kept,
             .benefit = 10,
             .shared = true,
             .sets = "tenon canonical"},
            {.name = "slice_whole",
             .docs = "Slice as large as its operand",
             .roots = "Slice",
             .match = whole_slice,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "ShapeBasedIdentity"},
            {.name = "pad_zero",
             .docs = "Pad by nothing",
             .roots = "Pad",
             .match = zero_pads,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon canonical"},
            {.name = "concat_one",
             .docs = "Concat of one operand",
             .roots = "Concat Sum Max Min Mean",
             .match = single_operand,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "ConcatEmpty"},
            {.name = "split_one",
             .docs = "Split into one part",
             .roots = "Split",
             .match = single_part,
             .rewrite = give_back_first,
             .benefit = 10,
             .shared = true,
             .sets = "tenon canonical"},
            {.name = "concat_empty",
             .docs = "Concat drops operands that have no elements",
             .roots = "Concat",
             .match = empty_part,
             .rewrite = without_empty_parts,
             .benefit = 9,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "ConcatEmpty"},
            {.name = "not_not",
             .docs = "Not(Not(x)) is x",
             .equation = "Not(Not(?x)) => ?x",
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "NotNot"},
            {.name = "neg_neg",
             .docs = "Neg(Neg(x)) is x",
             .equation = "Neg(Neg(?x)) => ?x",
             .benefit = 10,
             .shared = true,
             .sets = "tenon canonical"},
        },
};

}  // namespace tenon::rules::clean_noop
