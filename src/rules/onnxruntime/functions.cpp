// SPDX-License-Identifier: Apache-2.0
// Pieces of language models as functions of the domain tenon. Exact: each function is defined by the nodes that it replaces. Last and
// alone: by then all ops of ONNX that Tenon fuses (Attention, RotaryEmbedding) is such an op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_functions {
using namespace rewrite;
namespace {

struct Cache {
  NodeId range;
  ValueId weights, angle;
};

/// Range(first, end, 1) as floats of the dtype, along axis 1 of three.
NodeId position_column(const Match& m, ValueId value) {
  const DimList* shape = m.shape(value);
  if (!shape || shape->size() != 3 || !(*shape)[0].known_equal(1) || !(*shape)[2].known_equal(1)) return {};
  bool cast = false;
  for (int depth = 0; depth < 6; ++depth) {
    const NodeId node = m.producer(value);
    if (!node) return {};
    const Node& n = m.node(node);
    if (n.is("Range")) return cast && m.dtype(value) == DType::i64 && m.is_number(m.operand(node, 2), 1) ? node : NodeId{};
    const bool casts = n.is("Cast") && !cast;
    if (!casts && !n.is("Unsqueeze") && !n.is("Squeeze") && !n.is("Reshape")) return {};
    cast |= casts;
    value = m.operand(node, 0);
  }
  return {};
}

/// cos(weights * positions), where the sine is taken too
bool cosine_table(Match& m) {
  const ValueId angle = m.operand(m.root(), 0);
  const NodeId product = m.producer(angle, "Mul");
  for (size_t side : {0, 1}) {
    const NodeId range = product ? position_column(m, m.operand(product, side)) : NodeId{};
    const ValueId weights = range ? m.operand(product, 1 - side) : ValueId{};
    const DimList* shape = m.shape(weights);
    if (!shape || shape->size() != 3 || !(*shape)[1].known_equal(1) || m.rank(m.operand(range, 0)) != 0) continue;
    m.accept(Cache{range, weights, angle});
    for (const ir::Use& use : m.value(angle).uses)
      if (use.node && m.node(use.node).is("Sin")) {
        m.take(use.node);
        m.other_roots.push_back(use.node);
        return true;
      }
  }
  return false;
}

struct Positions {
  ValueId ids, weights;
};

/// [batch, sequence] integers, of which `column`, [batch, sequence, 1], are the floats.
ValueId position_ids(const Match& m, ValueId column) {
  const DimList* wide = m.shape(column);
  if (!wide || wide->size() != 3 || !(*wide)[2].known_equal(1)) return {};
  ValueId value = column;
  for (int depth = 0; depth < 6; ++depth) {
    const NodeId node = m.producer(value);
    const DimList* shape = m.shape(value);
    const bool flat = shape && shape->size() == 2 && (*shape)[0].known_equal((*wide)[0]) && (*shape)[1].known_equal((*wide)[1]);
    if (flat && is_integer(m.dtype(value))) return value;
    const bool casts = node && m.node(node).is("Cast") && is_integer(m.dtype(m.operand(node, 0)));
    if (!node || (!casts && !is_reshape(m.node(node)))) return {};
    value = m.operand(node, 0);
  }
  return {};
}

/// cos(weights * positions), where the sine is taken too
bool cosine_of_ids(Match& m) {
  const ValueId angle = m.operand(m.root(), 0);
  const NodeId product = m.producer(angle, "Mul");
  for (size_t side : {0, 1}) {
    const ValueId ids = product ? position_ids(m, m.operand(product, side)) : ValueId{};
    const ValueId weights = ids ? m.operand(product, 1 - side) : ValueId{};
    const DimList* shape = m.shape(weights);
    if (!shape || shape->size() != 3 || !(*shape)[1].known_equal(1)) continue;
    if (!(*shape)[0].known_equal(1) && !(*shape)[0].known_equal((*m.shape(ids))[0])) continue;
    m.accept(Positions{ids, weights});
    for (const ir::Use& use : m.value(angle).uses)
      if (use.node && m.node(use.node).is("Sin")) {
        m.take(use.node);
        m.other_roots.push_back(use.node);
        return true;
      }
  }
  return false;
}

bool to_table(const Match& m, Rewriter& w) {
  const Positions& found = m.state<Positions>();
  const auto tables = w.many("tenon::CosSinPositions", {found.ids, found.weights}, 2);
  for (size_t i = 0; i < tables.size(); ++i) w.replace(m.result(i == 0 ? m.root() : m.nodes[1]), tables[i]);
  return true;
}

bool to_cache(const Match& m, Rewriter& w) {
  const Cache& found = m.state<Cache>();
  const auto tables = w.many("tenon::CosSinCache", {m.operand(found.range, 0), m.operand(found.range, 1), found.weights}, 2);
  for (size_t i = 0; i < tables.size(); ++i) w.replace(m.result(i == 0 ? m.root() : m.nodes[1]), tables[i]);
  return true;
}

/// The two lengths of a function are one number each, of rank 0 or 1: a Squeeze to rank 0 is none of their business.
bool squeezed_length(Match& m) {
  for (size_t k : {0, 1}) {
    const NodeId squeeze = m.producer(m.operand(m.root(), k), "Squeeze");
    const DimList* shape = squeeze ? m.shape(m.operand(squeeze, 0)) : nullptr;
    if (shape && shape->size() == 1 && (*shape)[0].known_equal(1)) return true;
  }
  return false;
}

bool with_vectors(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  for (size_t k : {0, 1}) {
    const NodeId squeeze = m.producer(inputs[k], "Squeeze");
    const DimList* shape = squeeze ? m.shape(m.operand(squeeze, 0)) : nullptr;
    if (shape && shape->size() == 1 && (*shape)[0].known_equal(1)) inputs[k] = m.operand(squeeze, 0);
  }
  return replace_root_results(m, w, w.clone_with_operands(m.root(), inputs));
}

struct Half {
  ValueId x, cosine, sine;
};

/// x * cos + rotated(x) * sin by halves
bool half_rotary(Match& m) {
  for (size_t side : {0, 1}) {
    m.nodes = {m.root()};
    const NodeId straight = m.take(m.operand(m.root(), side), "Mul"), crossed = m.take(m.operand(m.root(), 1 - side), "Mul");
    if (!straight || !crossed) return false;
    const auto taken = m.nodes;
    for (size_t rotated_side : {0, 1}) {
      m.nodes = taken;
      const auto rotated = rotated_halves(m, m.operand(crossed, rotated_side));
      if (!rotated || rotated->interleaved) continue;
      const size_t at = m.operand(straight, 0) == rotated->x ? 0 : 1;
      if (m.operand(straight, at) != rotated->x) continue;
      return m.accept(Half{rotated->x, m.operand(straight, 1 - at), m.operand(crossed, 1 - rotated_side)});
    }
  }
  return false;
}

bool to_half_rotary(const Match& m, Rewriter& w) {
  const Half& found = m.state<Half>();
  return replace_root(m, w, w("tenon::HalfRotaryEmbedding", {found.x, found.cosine, found.sine}));
}

}  // namespace

RULES(onnxruntime_functions) {
    .sets = "default",
    .rules =
        {
            {.name = "causal_mask",
             .docs = "key <= query as positions counted from 0 and from the past",
             .equation = "(LessOrEqual(Unsqueeze(Range(0, ?total, 1), [0,1,2]), Unsqueeze(Range(?past, ?total, 1), [0,1,3]))"
                         "|GreaterOrEqual(Unsqueeze(Range(?past, ?total, 1), [0,1,3]), Unsqueeze(Range(0, ?total, 1), [0,1,2])))"
                         " => tenon::CausalMask(?past, ?total)",
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCausalMask"},
            {.name = "shifted_causal_mask",
             .docs = "key > query - shift: the window of a sliding attention",
             .equation = "(Greater(Unsqueeze(Range(0, ?total, 1), [0,1,2]), Sub(Unsqueeze(Range(?past, ?total, 1), [0,1,3]), ?shift))"
                         "|Less(Sub(Unsqueeze(Range(?past, ?total, 1), [0,1,3]), ?shift), Unsqueeze(Range(0, ?total, 1), [0,1,2])))"
                         " => tenon::ShiftedCausalMask(?past, ?total, ?shift) where size(?shift) == 1, rank(?shift) <= 1",
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCausalMask"},
            {.name = "causal_mask_mul_add",
             .docs = "places in a mask that is stored flat: column + row * stride",
             .equation = "Add(Unsqueeze(Range(0, ?columns, 1), [0,1,2]), Mul(Unsqueeze(Range(0, ?rows, 1), [1,2,3]), ?stride))"
                         " => tenon::CausalMaskMulAdd(?columns, ?rows, ?stride) where size(?stride) == 1, rank(?stride) <= 1",
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCausalMaskMulAdd"},
            {.name = "lengths_as_vectors",
             .docs = "the lengths of these functions as vectors of one element",
             .roots = "tenon::CausalMask tenon::ShiftedCausalMask tenon::CausalMaskMulAdd tenon::CosSinCache",
             .match = squeezed_length,
             .rewrite = with_vectors,
             .benefit = 2,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCausalMask FunctionCausalMaskMulAdd FunctionCosSinCache"},
            {.name = "cos_sin_cache",
             .docs = "cosine and sine of positions times frequencies",
             .roots = "Cos",
             .match = cosine_table,
             .rewrite = to_cache,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCosSinCache"},
            {.name = "cos_sin_positions",
             .docs = "the same where the positions are given",
             .roots = "Cos",
             .match = cosine_of_ids,
             .rewrite = to_table,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCosSinCache"},
            {.name = "half_rotary",
             .docs = "x * cos + rotated(x) * sin by halves, where cos and sin are not known to repeat",
             .roots = "Add",
             .match = half_rotary,
             .rewrite = to_half_rotary,
             .benefit = 3,
             .covered_patterns = "FunctionHalfRotaryEmbedding"},
        },
};

}  // namespace tenon::rules::onnxruntime_functions
