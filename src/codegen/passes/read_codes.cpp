// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/read_codes.h"

#include <algorithm>
#include <optional>

#include "codegen/analysis/attention.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/readers.h"

namespace tenon::codegen {

namespace {

/// The two factors of a map codes * scales, each as a nest that stores the factor alone.
struct ScaledCodes {
  Nest codes, scales;
};

/// The map with its result replaced by one of its loads.
Nest nest_of_load(const Nest& map, const Expr& input) {
  Nest out = map;
  const NestAccess read = map.accesses[static_cast<size_t>(input->index)];
  out.accesses = {read};
  out.outputs[0].dtype = read.dtype;
  out.outputs[0].value = Expr::input(0, read.dtype);
  return out;
}

/// nullopt where the map is no product of a cast 8-bit load and a load.
std::optional<ScaledCodes> scaled_codes(const Nest& map) {
  const Expr& value = map.outputs[0].value;
  if (map.accesses.size() != 2 || value.op() != ExprOp::mul || value.dtype() != DType::f32) return std::nullopt;
  const auto is_code = [](const Expr& e) {
    return e.op() == ExprOp::cast && e.args()[0].op() == ExprOp::input && bits_of(e.args()[0].dtype()) == 8;
  };
  const size_t code = is_code(value.args()[0]) ? 0 : 1;
  const Expr cast = value.args()[code], scale = value.args()[1 - code];
  if (!is_code(cast) || scale.op() != ExprOp::input) return std::nullopt;
  const auto is_plain = [](const NestAccess& a) { return !a.within && !a.flat; };
  if (!std::ranges::all_of(map.accesses, is_plain)) return std::nullopt;
  ScaledCodes out{nest_of_load(map, cast.args()[0]), nest_of_load(map, scale)};
  out.scales.nodes.clear();  // the nodes are in `codes`
  return out;
}

/// Whether a scale is one number for a row of keys (1) or values (2).
bool is_of_rows(const NestAccess& scale, size_t operand) {
  const int along_row = operand == 1 ? kHeadSize : kValueSize;
  return !scale.within && !moves_along(scale, kSharing) && !moves_along(scale, kQuery) && !moves_along(scale, along_row);
}

/// Whether the access is always inside, at a place that is affine in the axes of attention.
bool has_affine_place(const NestAccess& a) {
  const auto is_affine = [](const Expr& e) { return affine_of(e, kAttentionAxes).has_value(); };
  return !a.within && (a.flat ? is_affine(a.flat) : std::ranges::all_of(a.index, is_affine));
}

/// Attention that loads the codes of keys (1) or values (2), and their scales as another operand.
std::optional<Group> attention_on_codes(const Group& attention, const ScaledCodes& parts, size_t operand, const Plan& plan) {
  Group out = attention;
  Nest& nest = out.nests[0];
  NestAccess read = nest.accesses[operand];
  if (nest.accesses.size() >= plan.limits.max_accesses) return std::nullopt;
  if (inline_into(parts.codes, nest, operand, plan) != InlineResult::in_place) return std::nullopt;
  // A second access of the operand's element becomes the load of its scale.
  const auto scale = static_cast<int>(nest.accesses.size());
  nest.accesses.push_back(std::move(read));
  if (inline_into(parts.scales, nest, static_cast<size_t>(scale), plan) != InlineResult::in_place) return std::nullopt;
  if (!has_affine_place(nest.accesses[operand]) || !is_of_rows(nest.accesses.back(), operand)) return std::nullopt;
  if (operand == 2) {
    out.as<AttentionGroup>().value_scale = scale;
    return out;
  }
  rewrite(nest, [&](const ExprNode& n) -> Expr {
    if (n.op != ExprOp::input || n.index != 0) return {};
    return Expr::input(0, DType::f32) * Expr::input(scale, DType::f32);
  });
  return out;
}

}  // namespace

void read_codes(Plan& plan) {
  if (!plan.sums_in_order) return;
  Readers readers(plan);
  for (Group& map : plan.groups) {
    if (map.kind() != GroupKind::nests || map.nests.size() != 1 || map.epilogue || !is_map(map.nests[0])) continue;
    const ArrayId result = map.nests[0].outputs[0].array;
    if (readers.is_output(result) || readers.writers(result) != 1 || readers.of(result).size() != 1) continue;
    Group& reader = plan.groups[*readers.of(result).begin()];
    if (reader.kind() != GroupKind::attention || reader.as<AttentionGroup>().longest_sequence) continue;
    const auto& accesses = reader.nests[0].accesses;
    if (std::ranges::count(accesses, result, &NestAccess::array) != 1) continue;
    const auto operand = static_cast<size_t>(std::ranges::find(accesses, result, &NestAccess::array) - accesses.begin());
    const auto parts = scaled_codes(map.nests[0]);
    if (!parts || (operand != 1 && operand != 2)) continue;
    auto changed = attention_on_codes(reader, *parts, operand, plan);
    if (!changed) continue;
    reader = *std::move(changed);
    map.nests.clear();
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
