// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/absorb_columns.h"

#include <algorithm>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/readers.h"
#include "codegen/cost/contract_tiling.h"

namespace tenon::codegen {

namespace {

/// The width of a column must be a multiple of this: of the lanes of a register on every target.
constexpr int64_t kLanesOfColumn = 16;

/// A product whose result is read as columns, and the maps that read it as one.
class Columns {
 public:
  Columns(const Plan& plan, const Readers& readers, size_t product) : plan_(plan), readers_(readers), product_(product) {}

  /// The product with the maps as its epilogue; nullopt where they cannot be joined, or where that would be slower.
  std::optional<Group> join() {
    if (!has_columns()) return std::nullopt;
    for (const size_t g : readers_.of(result()))
      if (!add(plan_.groups[g])) return std::nullopt;
    return reads_several_ && may_delay_results() ? finished() : std::nullopt;
  }

 private:
  const Group& product() const { return plan_.groups[product_]; }
  const Nest& sum() const { return product().nests[0]; }
  ArrayId result() const { return product().epilogue ? product().epilogue->map.outputs[0].array : sum().outputs[0].array; }

  /// Whether the last dimension of the result is along the lanes, and only maps that agree on the width of a column read it.
  bool has_columns() {
    const std::set<size_t>& maps = readers_.of(result());
    if (maps.empty() || readers_.is_output(result()) || readers_.writers(result()) != 1) return false;
    const Group& first = plan_.groups[*maps.begin()];
    if (first.kind() != GroupKind::nests || first.nests.size() != 1 || first.nests[0].axes.empty()) return false;
    const Contraction& roles = *product().contraction();
    const Array& array = plan_.arrays[result()];
    const NestOutput& out = sum().outputs[0];
    if (roles.lanes.size() != 1 || !roles.batch.empty() || out.flat || !array.order.empty()) return false;
    const auto width = first.nests[0].axes.back().extent.number(), lanes = array.shape.back().number();
    if (!width || !lanes || *width < kLanesOfColumn || *width % kLanesOfColumn != 0 || *lanes % *width != 0) return false;
    width_ = *width;
    columns_ = *lanes / *width;
    joined_.axes = first.nests[0].axes;
    if (joined_.axes.size() != array.shape.size()) return false;
    for (size_t d = 0; d + 1 < array.shape.size(); ++d)
      if (!joined_.axes[d].extent.known_equal(array.shape[d])) return false;
    const Expr& last = out.index.back();
    return columns_ > 1 && last.op() == ExprOp::axis && last->index == roles.lanes[0].axes[0] &&
           constant_of(roles.lanes_operand, sum(), plan_) && tiling_of(product(), plan_);
  }

  /// Whether the access reads one of the columns at the map's own index.
  bool reads_column(const NestAccess& a) const {
    const int axes = static_cast<int>(joined_.axes.size());
    if (a.flat || a.within || a.index.size() != joined_.axes.size()) return false;
    for (int d = 0; d + 1 < axes; ++d)
      if (!is_axis(a.index[d], d, joined_)) return false;
    const auto last = affine_of(a.index.back(), axes);
    if (!last || !last->offset.is_number() || last->offset.value() < 0 || last->offset.value() % width_ != 0) return false;
    for (int x = 0; x < axes; ++x)
      if (!(last->coefficients[x] == Dim(x + 1 == axes ? 1 : 0))) return false;
    return last->offset.value() / width_ < columns_;
  }

  /// Joins the next map to those before it, whose results it may read at its own index.
  bool add(const Group& group) {
    if (group.kind() != GroupKind::nests || group.nests.size() != 1 || group.epilogue) return false;
    Nest map = group.nests[0];
    const auto same = [](const ops::Axis& a, const ops::Axis& b) { return a.extent == b.extent; };
    if (!is_map(map) || is_view(map) || !std::ranges::equal(map.axes, joined_.axes, same)) return false;
    if (readers_.writers(map.outputs[0].array) != 1) return false;
    const auto reads_result = [&](const NestAccess& a) { return a.array == result(); };
    if (!std::ranges::all_of(map.accesses, [&](const NestAccess& a) { return !reads_result(a) || reads_column(a); })) return false;
    reads_several_ |= std::ranges::count_if(map.accesses, reads_result) > 1;
    if (!inline_epilogue(map)) return false;
    const size_t first = joined_.accesses.size();
    std::vector<Expr> values;
    for (const NestAccess& a : map.accesses) {
      const auto made = std::ranges::find(joined_.outputs, a.array, &NestOutput::array);
      if (made != joined_.outputs.end()) {
        if (!reads_own_element(a, map, plan_) || made->value.dtype() != made->dtype) return false;
        values.push_back(made->value);
        continue;
      }
      if (shares_a_result(a.array)) return false;
      values.push_back(Expr::input(static_cast<int>(joined_.accesses.size()), a.dtype));
      joined_.accesses.push_back(a);
    }
    const auto own = [&](const ExprNode& n) { return n.op == ExprOp::input ? values[static_cast<size_t>(n.index)] : Expr(); };
    for (size_t k = first; k < joined_.accesses.size(); ++k) {
      NestAccess& a = joined_.accesses[k];
      for (Expr& e : a.index) e = substitute(e, own);
      for (Expr* e : {&a.flat, &a.within, &a.fill})
        if (*e) *e = substitute(*e, own);
    }
    joined_.outputs.push_back(map.outputs[0]);
    joined_.outputs.back().value = substitute(map.outputs[0].value, own);
    joined_.nodes.insert(joined_.nodes.end(), map.nodes.begin(), map.nodes.end());
    node_ = group.node;
    return joined_.accesses.size() <= plan_.limits.max_accesses && within_budget(joined_);
  }

  /// Whether the array is a reshape of a result of the maps or of the product.
  bool shares_a_result(ArrayId a) const {
    for (a = plan_.arrays[a].same_bytes; a >= 0; a = plan_.arrays[a].same_bytes)
      if (a == result() || std::ranges::find(joined_.outputs, a, &NestOutput::array) != joined_.outputs.end()) return true;
    return false;
  }

  /// Whether nothing reads the maps' results before the last map.
  bool may_delay_results() const {
    const std::set<size_t>& maps = readers_.of(result());
    return std::ranges::all_of(joined_.outputs, [&](const NestOutput& o) {
      return std::ranges::all_of(readers_.of(o.array), [&](size_t g) { return maps.contains(g) || g > *maps.rbegin(); });
    });
  }

  /// Evaluates the product's earlier epilogue where the map reads a column.
  bool inline_epilogue(Nest& map) const {
    for (size_t k = product().epilogue ? map.accesses.size() : 0; k-- > 0;)
      if (map.accesses[k].array == result() && inline_into(product().epilogue->map, map, k, plan_) != InlineResult::appended) return false;
    return true;
  }

  std::optional<Group> finished() const {
    Group out = product();
    const auto reads = std::ranges::find(joined_.accesses, sum().outputs[0].array, &NestAccess::array);
    out.epilogue = Epilogue{joined_, static_cast<int>(reads - joined_.accesses.begin()), static_cast<int>(columns_)};
    out.node = node_;
    const auto tiling = tiling_of(out, plan_);
    return tiling && tiling->with_epilogue ? std::optional(std::move(out)) : std::nullopt;
  }

  const Plan& plan_;
  const Readers& readers_;
  const size_t product_;
  int64_t width_ = 0, columns_ = 1;
  Nest joined_;
  ir::NodeId node_;
  bool reads_several_ = false;  ///< a map reads more than one column
};

}  // namespace

void absorb_columns(Plan& plan) {
  Readers readers(plan);
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& product = plan.groups[g];
    if (product.kind() != GroupKind::contract || (product.epilogue && product.epilogue->columns > 1)) continue;
    const ArrayId result = product.epilogue ? product.epilogue->map.outputs[0].array : product.nests[0].outputs[0].array;
    auto joined = Columns(plan, readers, g).join();
    if (!joined) continue;
    std::set<size_t> parts = readers.of(result);
    const size_t last = *parts.rbegin();
    parts.insert(g);
    for (const size_t part : parts) {
      readers.remove(part);
      plan.groups[part] = Group{};
    }
    plan.groups[last] = *std::move(joined);
    readers.add(last);
  }
  std::erase_if(plan.groups, [](const Group& g) { return g.kind() == GroupKind::nests && g.nests.empty(); });
}

}  // namespace tenon::codegen
