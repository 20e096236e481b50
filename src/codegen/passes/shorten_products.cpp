// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/shorten_products.h"

#include <algorithm>
#include <map>

#include "base/scalar.h"
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/padding.h"

namespace tenon::codegen {

namespace {

/// Products with fewer lanes or a shorter depth stay in f32: rounding costs more than it saves.
constexpr int64_t kMinLanes = 32, kMinDepth = 32;

std::optional<int64_t> known_extent(const std::vector<JointAxis>& axes) { return extent_of(axes).number(); }

bool is_even(const JointAxis& axis) { return axis.extent.is_number() && axis.extent.value() % 2 == 0; }

/// Rewrites the groups in order. Each array is rounded once.
class Shortening {
 public:
  explicit Shortening(Plan& plan) : plan_(plan) {}

  void run() {
    for (Group& g : plan_.groups) {
      if (const auto operands = operands_to_round(g)) shorten(g, *operands);
      for (const Nest& n : g.nests)
        for (const NestOutput& o : n.outputs) nodes_of_[o.array] = n.nodes;
      groups_.push_back(std::move(g));
    }
    plan_.groups = std::move(groups_);
    recompute_all_roles(plan_);
  }

 private:
  /// Numbers of the loads of a product that is worth rounding. Which operand is along the lanes may still change with the layout.
  struct Operands {
    int weights, rows;
  };

  /// nullopt where the product is not to be shortened.
  std::optional<Operands> operands_to_round(const Group& g) const {
    if (g.kind() != GroupKind::contract || !g.contraction()) return std::nullopt;
    const Contraction& c = *g.contraction();
    const Nest& nest = g.nests[0];
    if (c.sum != DType::f32 || c.group != 1 || !c.rows_operand.is_load() || !c.lanes_operand.is_load()) return std::nullopt;
    const auto is_constant = [&](const ContractOperand& o) { return constant_of(o, nest, plan_) != nullptr; };
    const bool is_lanes_constant = is_constant(c.lanes_operand);
    if (is_lanes_constant == is_constant(c.rows_operand)) return std::nullopt;
    const auto lanes = known_extent(is_lanes_constant ? c.lanes : c.rows), depth = known_extent(c.depth);
    const bool large = lanes && depth && *lanes >= kMinLanes && *depth >= kMinDepth;
    if (!large || std::ranges::none_of(c.depth, is_even)) return std::nullopt;
    const int a = c.lanes_operand.accesses[0], b = c.rows_operand.accesses[0];
    const Operands out = is_lanes_constant ? Operands{a, b} : Operands{b, a};
    return has_plain_fill(nest.accesses[out.rows]) ? std::optional(out) : std::nullopt;
  }

  static bool has_plain_fill(const NestAccess& a) { return !a.fill || a.fill.op() == ExprOp::constant; }

  void shorten(Group& g, const Operands& operands) {
    Nest& nest = g.nests[0];
    NestAccess& read = nest.accesses[operands.rows];
    read.array = rounded(read.array, nest.nodes);
    read.dtype = DType::bf16;
    if (read.fill) read.fill = Expr::constant(DType::bf16, round_to(DType::bf16, read.fill->float_value));
    nest.outputs[0].value = substitute(nest.outputs[0].value, [&](const ExprNode& n) {
      if (n.op != ExprOp::input) return Expr();
      const Expr load = Expr::input(n.index, n.index == operands.weights ? DType::f32 : DType::bf16);
      return cast(cast(load, DType::bf16), DType::f32);
    });
  }

  /// The array rounded to bf16, which a group before the current one stores.
  ArrayId rounded(ArrayId from, const std::vector<ir::NodeId>& reader) {
    const auto [known, is_new] = rounded_.try_emplace(from, -1);
    if (!is_new) return known->second;
    const Array& array = plan_.arrays[from];
    known->second = add_temporary(plan_, DType::bf16, array.shape, array.order);
    const auto producer = nodes_of_.find(storage_of(from, plan_));
    Nest map;
    NestAccess read;
    NestOutput out;
    for (const Dim d : plan_.arrays[from].shape) {
      out.index.push_back(Expr::axis(static_cast<int>(map.axes.size())));
      map.axes.push_back({ops::Axis::Kind::parallel, d});
    }
    read.index = out.index;
    read.array = from;
    out.array = known->second;
    out.dtype = DType::bf16;
    out.value = cast(Expr::input(0, DType::f32), DType::bf16);
    map.accesses.push_back(std::move(read));
    map.outputs.push_back(std::move(out));
    map.nodes = producer == nodes_of_.end() ? reader : producer->second;
    Group g;
    g.as<LoopGroup>().auxiliary = true;
    g.nests.push_back(std::move(map));
    groups_.push_back(std::move(g));
    return known->second;
  }

  Plan& plan_;
  std::vector<Group> groups_;
  std::map<ArrayId, ArrayId> rounded_;
  std::map<ArrayId, std::vector<ir::NodeId>> nodes_of_;  ///< by array: the nodes that computed it
};

}  // namespace

void shorten_products(Plan& plan) { Shortening(plan).run(); }

}  // namespace tenon::codegen
