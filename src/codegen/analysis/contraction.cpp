// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/contraction.h"

#include <algorithm>

#include "codegen/analysis/in_blocks.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/places.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

namespace {

/// A factor of the sum: the position of its first load, and the axes that it depends on.
struct Operand {
  ContractOperand factor;
  Affine place;
  std::vector<bool> has;  ///< a place, or whether it is inside, depends on that axis

  static std::optional<Operand> of(ContractOperand factor, const Nest& nest, const Plan& plan) {
    const int axes = static_cast<int>(nest.axes.size());
    Operand out{std::move(factor), {}, std::vector<bool>(nest.axes.size())};
    for (const int k : out.factor.accesses) {
      const NestAccess& access = nest.accesses[k];
      auto place = affine_of(flat_of(access, plan), axes);
      if (!place) return std::nullopt;
      for (int x = 0; x < axes; ++x)
        if (!(place->coefficients[x] == Dim(0)) || mentions(access.within, ExprOp::axis, x) || mentions(access.fill, ExprOp::axis, x))
          out.has[x] = true;
      if (k == out.factor.accesses[0]) out.place = std::move(*place);
    }
    return out;
  }

  /// Packed when the engine is built.
  bool is_constant(const Nest& nest, const Plan& plan) const { return constant_of(factor, nest, plan) != nullptr; }
  /// Tiles read it in place, or where it is stored (with its fill around it) before they begin.
  bool can_be_stored(const Nest& nest, const Plan& plan) const {
    if (factor.accesses.size() == 1) return can_be_padded(nest.accesses[factor.accesses[0]], nest, plan);
    return std::ranges::none_of(factor.accesses, [&](int k) { return bool(nest.accesses[k].within); });
  }
};

/// Larger steps first; by insertion, since symbolic steps are only partly ordered.
void sort_by_step(std::vector<JointAxis>& list, const Affine& place) {
  auto step = [&](const JointAxis& a) { return place.coefficients[a.axes[0]]; };
  for (size_t k = 1; k < list.size(); ++k)
    for (size_t at = k; at > 0 && step(list[at - 1]).less(step(list[at])).value_or(false); --at) std::swap(list[at - 1], list[at]);
}

/// Parallel axes that one operand alone depends on, those of larger steps in the result first.
std::vector<JointAxis> own_axes(const Operand& operand, const Operand& other, const Nest& nest, const Affine& result) {
  std::vector<JointAxis> out;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x) {
    const bool own = operand.has[x] && !other.has[x] && nest.axes[x].kind == ops::Axis::Kind::parallel;
    if (own && !(nest.axes[x].extent == Dim(1))) out.push_back({{x}, nest.axes[x].extent});
  }
  sort_by_step(out, result);
  return out;
}

/// Whether the place walks them as one axis, which tiles need of the axes along their lanes.
bool walks_as_one(const std::vector<JointAxis>& axes, const Affine& place) {
  for (size_t k = 1; k < axes.size(); ++k)
    if (!(place.coefficients[axes[k - 1].axes[0]] == place.coefficients[axes[k].axes[0]] * axes[k].extent)) return false;
  return true;
}

/// Which operand goes along the lanes: a constant one (its panels are packed at build time) if the result is contiguous along one of
/// its own axes, else the one whose own axis the result is contiguous along, else any that has an own axis. One whose axes the result does
/// not walk as one comes last.
int lanes_operand_of(const Nest& nest, const Plan& plan, const std::vector<Operand>& operands, const Affine& result) {
  int best = -1, best_score = 0;
  for (int side = 0; side < 2; ++side) {
    const std::vector<JointAxis> own = own_axes(operands[side], operands[1 - side], nest, result);
    if (own.empty()) continue;
    const auto contiguous = [&](const JointAxis& a) { return result.coefficients[a.axes[0]] == Dim(1); };
    int score = std::ranges::any_of(own, contiguous) ? 4 : 1;
    if (operands[side].is_constant(nest, plan)) score += 2;
    if (walks_as_one(own, result)) score += 10;
    if (score > best_score || (score == best_score && side == 1)) best = side, best_score = score;
  }
  return best;
}

int weight_of(const Expr& e) {
  int weight = 1;
  for (const Expr& arg : e.args()) weight += weight_of(arg);
  return weight;
}

/// Short operands stay as they are where there are instructions for groups of them.
void set_group(Contraction& roles) {
  const auto narrow = [](const Expr& e) { return e.op() == ExprOp::cast ? e.args()[0] : e; };
  const Expr rows = narrow(roles.rows_operand.value), lanes = narrow(roles.lanes_operand.value);
  roles.group = products_per_instruction(rows.dtype(), lanes.dtype(), roles.sum);
  if (roles.group == 1) return;
  roles.rows_operand.value = rows;
  roles.lanes_operand.value = lanes;
}

struct Scaled {
  Operand rows;
  int scale;
};

/// A factor that is the product of two loads, one of which is constant along that axis.
std::optional<Scaled> scaled(const ContractOperand& factor, int axis, const Nest& nest, const Plan& plan) {
  const auto is_load = [&](const Expr& e) { return e.op() == ExprOp::input && !nest.accesses[e->index].within; };
  if (factor.value.op() != ExprOp::mul || factor.accesses.size() != 2 || !std::ranges::all_of(factor.value.args(), is_load))
    return std::nullopt;
  std::optional<Scaled> out;
  for (size_t k = 0; k < 2; ++k) {
    const Expr& moving = factor.value.args()[k];
    const int rows = moving->index, scale = factor.value.args()[1 - k]->index;
    auto of_rows = Operand::of({moving, {rows}}, nest, plan), of_scale = Operand::of({factor.value.args()[1 - k], {scale}}, nest, plan);
    if (of_rows && of_scale && of_rows->has[axis] && !of_scale->has[axis]) out = Scaled{*std::move(of_rows), scale};
  }
  return out;
}

/// Casts of a constant are steps of it.
ir::ConstantRef constant_of(const Expr& value, const ir::ConstantRef& source) {
  if (value.op() == ExprOp::input) return source;
  if (!source || value.op() != ExprOp::cast) return nullptr;
  const ir::ConstantRef of = constant_of(value.args()[0], source);
  return of ? ir::cast(of, value.dtype()) : nullptr;
}

/// Blocks are unpacked by f32 products alone, and lie along the only axis of the depth.
bool is_in_blocks(const Contraction& c, const Nest& nest, const Plan& plan) {
  const bool plain = c.group == 1 && c.scale < 0 && c.sum == DType::f32 && c.rows_operand.value.dtype() == DType::f32;
  if (!plain || !c.lanes_operand.is_load() || c.depth.size() != 1 || !c.batch.empty()) return false;
  const NestAccess& access = nest.accesses[c.lanes_operand.accesses[0]];
  const ir::ConstantRef& constant = plan.arrays[access.array].constant;
  if (!constant || access.flat || access.within) return false;
  const auto of = in_blocks(constant);
  return of && of->format->linear && is_axis(access.index[static_cast<size_t>(of->axis)], c.depth[0].axes[0], nest);
}

}  // namespace

std::optional<Contraction> contraction_of(const Nest& nest, const Plan& plan) {
  auto factors = factors_of(nest);
  if (!factors) return std::nullopt;
  const int axes = static_cast<int>(nest.axes.size());
  std::vector<Operand> operands;
  std::ranges::sort(*factors, {}, [](const ContractOperand& f) { return f.accesses[0]; });
  for (ContractOperand& factor : *factors) {
    auto operand = Operand::of(std::move(factor), nest, plan);
    if (!operand) return std::nullopt;
    operands.push_back(std::move(*operand));
  }
  auto result = affine_of(flat_of(nest.outputs[0], plan), axes);
  if (!result) return std::nullopt;
  Contraction roles;
  const int side = lanes_operand_of(nest, plan, operands, *result);
  if (side < 0) return std::nullopt;
  const Operand& along = operands[side];
  Operand& other = operands[1 - side];
  roles.lanes_operand = along.factor;
  roles.packed = along.is_constant(nest, plan);
  for (int x = 0; x < axes; ++x) {
    if (nest.axes[x].extent == Dim(1)) continue;
    const bool in_rows = other.has[x];
    const bool in_lanes = along.has[x];
    JointAxis axis{{x}, nest.axes[x].extent};
    if (nest.axes[x].kind == ops::Axis::Kind::reduced) {
      if (!in_rows || !in_lanes) return std::nullopt;
      roles.depth.push_back(axis);
    } else if (in_rows && in_lanes) {
      roles.batch.push_back(axis);
    } else if (in_rows) {
      roles.rows.push_back(axis);
    } else if (in_lanes) {
      roles.lanes.push_back(axis);
    } else {
      return std::nullopt;
    }
  }
  roles.sum = nest.outputs[0].dtype;
  if (!roles.rows.empty())
    if (auto parts = scaled(other.factor, roles.rows.back().axes[0], nest, plan))
      roles.scale = parts->scale, other = std::move(parts->rows);
  roles.rows_operand = other.factor;
  set_group(roles);
  if (roles.depth.empty() || roles.lanes.empty()) return std::nullopt;
  // Nothing to share the lanes operand's panels: a depthwise convolution, or a vector times a matrix that is not packed.
  if (roles.rows.empty() && !roles.packed) return std::nullopt;
  if (!other.can_be_stored(nest, plan)) return std::nullopt;
  // The depth that the rows operand walks in the smallest steps comes innermost; likewise the lanes that the result does.
  sort_by_step(roles.depth, other.place);
  sort_by_step(roles.lanes, *result);
  roles.in_blocks = is_in_blocks(roles, nest, plan);
  if (roles.in_blocks) roles.activations = plan.activations;
  return roles;
}

Expr widened(const Expr& value, DType sum) { return cast(value, sum); }

Contraction without_groups(Contraction roles) {
  for (ContractOperand* o : {&roles.rows_operand, &roles.lanes_operand}) o->value = widened(o->value, roles.sum);
  roles.group = 1;
  return roles;
}

ir::ConstantRef constant_of(const ContractOperand& operand, const Nest& nest, const Plan& plan) {
  return constant_of(operand.value, plan.arrays[nest.accesses[operand.accesses[0]].array].constant);
}

bool same_operands(const Contraction& a, const Contraction& b) {
  const auto same = [](const ContractOperand& x, const ContractOperand& y) {
    return x.accesses.size() == y.accesses.size() && weight_of(x.value) == weight_of(y.value);
  };
  return same(a.rows_operand, b.rows_operand) && same(a.lanes_operand, b.lanes_operand);
}

bool recompute_roles(Group& group, const Plan& plan) {
  auto roles = contraction_of(group.nests[0], plan);
  if (!roles) return false;
  group.set_kind(GroupKind::contract);
  group.as<ContractGroup>().contraction = std::move(roles);
  return true;
}

std::vector<Group> plain_groups(const Group& contraction) {
  std::vector<Group> out(1);
  out[0].nests = contraction.nests;
  if (contraction.epilogue) out.emplace_back().nests.push_back(contraction.epilogue->map);
  for (Group& g : out) g.node = contraction.node;
  return out;
}

void recompute_all_roles(Plan& plan) {
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    if (plan.groups[g].kind() != GroupKind::contract || recompute_roles(plan.groups[g], plan)) continue;
    std::vector<Group> plain = plain_groups(plan.groups[g]);
    plan.groups[g] = std::move(plain.back());
    plan.groups.insert(plan.groups.begin() + static_cast<ptrdiff_t>(g), std::make_move_iterator(plain.begin()),
                       std::make_move_iterator(plain.end() - 1));
    g += plain.size() - 1;
  }
}

}  // namespace tenon::codegen
