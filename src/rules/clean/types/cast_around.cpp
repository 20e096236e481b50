// SPDX-License-Identifier: Apache-2.0
// An op that is in a wide dtype between a Cast to it and a Cast back, in the narrow dtype. Ops that only choose, or change a sign, give
// the same bits. + - * / and sqrt, rounded to the wide dtype and then to the narrow one, are rounded once in effect where the wide
// one has at least twice the digits and two more (Figueroa 1995), which holds for f16 in f32 and f32 in f64; everything else loses
// precision.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_cast_around {
using namespace rewrite;
namespace {

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (node.is(name)) return true;
  return false;
}
bool chooses(const Node& n) { return is_one_of(n, {"Abs", "Neg", "Relu", "Floor", "Ceil", "Round", "Sign", "Max", "Min", "Clip"}); }
bool rounds_once(const Node& n) { return is_one_of(n, {"Add", "Sub", "Mul", "Div", "Sqrt"}); }
bool is_arithmetic(const Node& n) {
  return is_one_of(n, {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"}) || (is_unary(n) && !n.is("Cast") && !n.is("Identity"));
}

/// An operand in the narrow dtype: what was cast, a constant or a filled value written anew, or (at a price) cast down.
enum class OperandSource : uint8_t { missing, uncast, constant, filled, cast_down };
using Ways = std::vector<OperandSource>;

/// The number with which a ConstantOfShape fills `value`, where the narrow dtype represents it exactly.
std::optional<double> filled(const Match& m, ValueId value, DType narrow) {
  const NodeId made = m.producer(value, "ConstantOfShape");
  const ir::Attribute* fill = made ? m.node(made).attributes.find("value") : nullptr;
  if (!fill || !std::holds_alternative<Tensor>(*fill)) return std::nullopt;
  auto number = Tensor::make(narrow, {1});
  const double wanted = std::get<Tensor>(*fill).number(0);
  if (!number) return std::nullopt;
  number->set_number(0, wanted);
  return number->number(0) == wanted ? std::optional(wanted) : std::nullopt;
}

std::optional<OperandSource> way_of(const Match& m, ValueId value, DType narrow) {
  if (!value) return OperandSource::missing;
  const ValueId source = operand_of_cast(m, value);
  if (source && m.dtype(source) == narrow) return OperandSource::uncast;
  if (is_exact_in(m, value, narrow)) return OperandSource::constant;
  if (filled(m, value, narrow)) return OperandSource::filled;
  return std::nullopt;
}

/// `inner` makes what the root, a Cast, takes back to its dtype; operand 0 (or any, `mixed`) comes from there.
bool narrowed(Match& m, NodeId inner, bool mixed) {
  const DType narrow = m.dtype(m.result(m.root())), wide = m.dtype(m.operand(m.root(), 0));
  if (!is_arithmetic_float(narrow) || !is_arithmetic_float(wide) || narrow == wide || !is_lossless_cast(narrow, wide))
    return m.refuse("the dtype in the middle does not keep every value");
  m.take(inner);
  Ways ways;
  bool any = false;
  for (size_t i = 0; i < m.node(inner).explicit_inputs; ++i) {
    auto way = way_of(m, m.operand(inner, i), narrow);
    if (!way && !mixed) return m.refuse("an operand was not cast from the outer dtype");
    ways.push_back(way.value_or(OperandSource::cast_down));
    any |= ways.back() == OperandSource::uncast;
  }
  if (!any) return m.refuse("no operand was cast from the outer dtype");
  return m.accept(std::move(ways));
}

bool around(Match& m, bool (*fit)(const Node&), bool mixed) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  return inner && m.node(inner).op->domain.empty() && fit(m.node(inner)) && narrowed(m, inner, mixed);
}
bool around_choice(Match& m) { return around(m, chooses, false); }
bool around_rounding(Match& m) {
  // bf16 has the exponents of f32: what underflows there is rounded twice.
  return m.dtype(m.result(m.root())) != DType::bf16 && around(m, rounds_once, false);
}
bool around_arithmetic(Match& m) { return around(m, is_arithmetic, true); }

bool is_norm(const Node& n) { return is_one_of(n, {"LayerNormalization", "RMSNormalization", "GroupNormalization"}); }

bool around_norm(Match& m, bool mixed) {
  const NodeId inner = m.producer(m.operand(m.root(), 0));
  if (!inner || !is_norm(m.node(inner))) return false;
  const Node& norm = m.node(inner);
  if (m.dtype(m.operand(m.root(), 0)) != DType::f32 || norm.attributes.integer("stash_type", 1) != 1)
    return m.refuse("the moments would be taken in another dtype");
  for (size_t i = 1; i < norm.outputs.size(); ++i)
    if (norm.outputs[i] && m.use_count(norm.outputs[i])) return m.refuse("mean or deviation are used");
  if (m.value(norm.outputs[0]).index != m.value(m.operand(m.root(), 0)).index) return false;
  const ValueId source = operand_of_cast(m, m.operand(inner, 0));
  return source && m.dtype(source) == m.dtype(m.result(m.root())) && narrowed(m, inner, mixed);
}
bool around_exact_norm(Match& m) { return around_norm(m, false); }
bool around_any_norm(Match& m) { return around_norm(m, true); }

ValueId fill_again(const Match& m, Rewriter& w, ValueId value, DType narrow) {
  Tensor fill = *Tensor::make(narrow, {1});
  fill.set_number(0, *filled(m, value, narrow));
  ValueId shape = m.operand(m.producer(value), 0);
  const NodeId shape_op = m.producer(shape, "Shape");
  if (const ValueId source = shape_op ? operand_of_cast(m, m.operand(shape_op, 0)) : ValueId{})
    shape = w.clone_with_operands(shape_op, {source})[0];
  return w("ConstantOfShape", {shape}, {{"value", std::move(fill)}});
}

bool in_narrow(const Match& m, Rewriter& w) {
  const NodeId inner = m.nodes[1];
  const Ways& ways = m.state<Ways>();
  const DType narrow = m.dtype(m.result(m.root()));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < ways.size(); ++i) {
    const ValueId value = m.operand(inner, i);
    switch (ways[i]) {
      case OperandSource::missing: inputs.emplace_back(); break;
      case OperandSource::uncast: inputs.push_back(operand_of_cast(m, value)); break;
      case OperandSource::constant: inputs.push_back(cast_constant(w, m, value, narrow)); break;
      case OperandSource::filled: inputs.push_back(fill_again(m, w, value, narrow)); break;
      case OperandSource::cast_down: inputs.push_back(cast_to(w, value, narrow)); break;
    }
  }
  const Node& node = m.node(inner);
  const auto made = w.many(*node.op, std::move(inputs), 1, node.attributes);
  return replace_root(m, w, made.empty() ? ValueId{} : made[0]);
}

}  // namespace

RULES(clean_cast_around) {
    .sets = "default",
    .rules =
        {
            {.name = "cast_around_choice",
             .docs =
                 "Cast(f(Cast(x))) back to the dtype of x is f(x) for an op that only chooses, rounds to whole numbers or changes signs",
             .roots = "Cast",
             .match = around_choice,
             .rewrite = in_narrow,
             .benefit = 3,
             .covered_patterns = "CastOpCast"},
            {.name = "cast_around_rounding",
             .docs = "the same for + - * / and sqrt, which a dtype of half the digits rounds to the same, if it rounds right",
             .roots = "Cast",
             .match = around_rounding,
             .rewrite = in_narrow,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "CastOpCast"},
            {.name = "cast_around_any",
             .docs = "the same for any arithmetic, where at least one operand was cast; less precise than what was requested",
             .roots = "Cast",
             .match = around_arithmetic,
             .rewrite = in_narrow,
             .numerics = Numerics::approximate,
             .benefit = 2,
             .covered_patterns = "CastOpCast"},
            {.name = "cast_norm",
             .docs = "a norm in f32 between casts takes its moments in f32 anyway; its parameters fit the narrow dtype",
             .roots = "Cast",
             .match = around_exact_norm,
             .rewrite = in_narrow,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "CastLayerNormalizationCast RMSNormalization"},
            {.name = "cast_norm_parameters",
             .docs = "the same with parameters that are rounded to the narrow dtype",
             .roots = "Cast",
             .match = around_any_norm,
             .rewrite = in_narrow,
             .numerics = Numerics::approximate,
             .benefit = 2,
             .covered_patterns = "CastLayerNormalizationCast"},
        },
};

}  // namespace tenon::rules::clean_cast_around
