// SPDX-License-Identifier: Apache-2.0
// Readers of a Concat read its parts instead. Exact: the elements are the same. A part of unknown size is used only where it provably has
// enough elements.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_concat_parts {
using namespace rewrite;
namespace {

/// An element of one part; negative: counted from its end.
struct Place {
  size_t part;
  int64_t offset;
};

/// The part of a Concat that has element `index` of the joined axis, and the index in it; sizes: of the parts on that axis.
std::optional<Place> place_of(const DimList& sizes, int64_t index) {
  const size_t count = sizes.size();
  const bool from_end = index < 0;
  int64_t steps = from_end ? -index - 1 : index;
  for (size_t k = 0; k < count; ++k) {
    const size_t part = from_end ? count - 1 - k : k;
    if (sizes[part].lower() > steps) return Place{part, from_end ? -steps - 1 : steps};
    if (!sizes[part].is_number()) return std::nullopt;
    steps -= sizes[part].value();
  }
  return std::nullopt;
}

struct PickedPart {
  ValueId part;
  ir::Ints offsets;
  int axis;
  bool all;  ///< every element of the part, in its order
};

/// The root picks elements of one part of a Concat.
/// The parts' sizes along the axis; empty where one has no shape.
DimList sizes_along(const Match& m, NodeId concat, int axis) {
  DimList sizes;
  for (ValueId part : m.node(concat).inputs) {
    const DimList* shape = m.shape(part);
    if (!shape) return {};
    sizes.push_back((*shape)[axis]);
  }
  return sizes;
}

std::optional<PickedPart> picked(const Match& m) {
  const ValueId data = m.operand(m.root(), 0), indices = m.operand(m.root(), 1);
  const NodeId concat = m.producer(data, "Concat");
  const auto wanted = concat ? m.ints(indices) : std::nullopt;
  const auto axis = m.axis(m.root(), "axis", 0, data), joined = concat ? m.axis(concat, "axis", 0, data) : std::nullopt;
  if (!wanted || wanted->empty() || !axis || axis != joined || !m.rank(indices)) return std::nullopt;
  const DimList sizes = sizes_along(m, concat, *axis);
  if (sizes.empty()) return std::nullopt;
  PickedPart found{{}, {}, *axis, m.rank(indices) == 1};
  for (int64_t index : *wanted) {
    const auto place = place_of(sizes, index);
    if (!place || (found.part && m.operand(concat, place->part) != found.part)) return std::nullopt;
    found.part = m.operand(concat, place->part);
    const Dim size = sizes[place->part];
    const int64_t at = place->offset < 0 && size.is_number() ? place->offset + size.value() : place->offset;
    found.all &= at == static_cast<int64_t>(found.offsets.size());
    found.offsets.push_back(at);
  }
  const DimList* shape = m.shape(found.part);
  found.all &= (*shape)[*axis].known_equal(static_cast<int64_t>(found.offsets.size()));
  return found;
}

bool whole_part(Match& m) {
  auto found = picked(m);
  if (!found || !found->all) return false;
  return m.accept(found->part);
}

bool some_of_one_part(Match& m) {
  auto found = picked(m);
  if (!found || found->all) return false;
  return m.accept(std::move(*found));
}

bool pick_there(const Match& m, Rewriter& w) {
  const PickedPart& found = m.state<PickedPart>();
  const Tensor* before = m.graph().tensor_of(m.operand(m.root(), 1));
  const ValueId offsets = w.constant(Tensor::of_i64(before->shape(), found.offsets));
  return replace_root(m, w, w("Gather", {found.part, offsets}, {{"axis", int64_t{found.axis}}}));
}

/// Concat(x, x): an op that treats every element alike is applied to x once.
bool repeated(Match& m) {
  const ValueId data = m.operand(m.root(), 0);
  const NodeId concat = m.producer(data, "Concat");
  if (!concat || m.node(m.root()).inputs.size() != 1) return false;
  const std::vector<ValueId>& parts = m.node(concat).inputs;
  if (parts.size() < 2 || std::ranges::any_of(parts, [&](ValueId p) { return p != parts[0]; })) return false;
  return m.accept(concat);
}

bool apply_once(const Match& m, Rewriter& w) {
  const NodeId concat = m.state<NodeId>();
  const std::vector<ValueId> parts(m.node(concat).inputs.size(), w.clone_with_operands(m.root(), {m.operand(concat, 0)})[0]);
  return replace_root(m, w, w.clone_with_operands(concat, parts)[0]);
}

}  // namespace

RULES(clean_concat_parts) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "concat_gather",
             .docs = "Gather of exactly the elements of one part of a Concat is the part",
             .roots = "Gather",
             .match = whole_part,
             .rewrite = replace_root_with_state,
             .benefit = 6,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "ConcatGather"},
            {.name = "gather_concat",
             .docs = "Gather of elements of one part of a Concat reads the part alone",
             .roots = "Gather",
             .match = some_of_one_part,
             .rewrite = pick_there,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "GatherConcat ConcatGather"},
            {.name = "concat_twice",
             .docs = "f(Concat(x, x)) is Concat(f(x), f(x)) for an element-wise f",
             .roots = "Abs Cast Ceil Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Not Reciprocal Relu "
                      "Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh",
             .match = repeated,
             .rewrite = apply_once,
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "default",
             .covered_patterns = "ConcatTwiceUnary"},
        },
};

}  // namespace tenon::rules::clean_concat_parts
