// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/add_halos.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/fixed_strides.h"
#include "codegen/analysis/padding.h"

namespace tenon::codegen {

namespace {

/// Most elements of a halo on one side: wider ones come from indices without a known bound.
constexpr int64_t kMaxWidth = 1 << 12;

/// The halo of an array, and the value of its elements.
struct HaloFill {
  Halo halo;
  Expr fill;
  std::vector<ir::NodeId> nodes;  ///< of the first reader
};

/// The load of a contraction that may leave its array; null: there is none.
NestAccess* padded_read(Group& g) {
  if (!g.contraction() || !g.contraction()->rows_operand.is_load()) return nullptr;
  NestAccess& read = g.nests[0].accesses[g.contraction()->rows_operand.accesses[0]];
  return read.within ? &read : nullptr;
}

size_t outermost(const Array& array) { return array.order.empty() ? 0 : static_cast<size_t>(array.order[0]); }

/// How far an access reaches beyond its array; nullopt where that is not known at compile time, or the access reads only a part of the
/// array.
std::optional<Halo> reach_beyond(const NestAccess& read, const Nest& nest, const Plan& plan) {
  const auto inside = index_bounds_of(read, nest, plan);
  if (!inside) return std::nullopt;
  const Array& array = plan.arrays[read.array];
  Halo out;
  for (size_t d = 0; d < inside->size(); ++d) {
    const IndexBounds& i = (*inside)[d];
    const bool reads_all = i.always || (i.from == Dim(0) && i.to == array.shape[d]);
    const int64_t before = i.always ? 0 : std::max<int64_t>(0, -i.lowest.lower());
    const int64_t after = i.always ? 0 : std::max<int64_t>(0, (i.highest + 1 - array.shape[d]).upper());
    if (!reads_all || before > kMaxWidth || after > kMaxWidth) return std::nullopt;
    out.before.push_back(before);
    out.after.push_back(after);
  }
  // The loop that fills a halo has images as tasks, so there is none in the outermost dimension.
  const size_t images = outermost(array);
  return out.before[images] + out.after[images] == 0 ? std::optional(std::move(out)) : std::nullopt;
}

bool same_number(const Expr& a, const Expr& b) { return a.op() == ExprOp::constant && b.op() == ExprOp::constant && same(a, b); }

/// Collects the halos that accesses need, and adds them.
class Halos {
 public:
  explicit Halos(Plan& plan) : plan_(plan), has_fixed_(has_fixed_strides(plan)) {}

  void run() {
    std::vector<bool> reads_halo;
    for (Group& g : plan_.groups) {
      const NestAccess* read = padded_read(g);
      reads_halo.push_back(read && request(*read, g.nests[0]));
    }
    for (const auto& [array, halo_fill] : requested_) {
      plan_.arrays[array].halo = halo_fill.halo;
      plan_.arrays[array].halo.zeros = is_zero(halo_fill.fill);
      plan_.arrays[array].strides = strides_of(plan_.arrays[array]);
    }
    std::vector<Group> groups;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (reads_halo[g]) read_halo(*padded_read(plan_.groups[g]), groups);
      groups.push_back(std::move(plan_.groups[g]));
    }
    plan_.groups = std::move(groups);
    if (!requested_.empty()) recompute_all_roles(plan_);
  }

 private:
  /// Requests a halo for the array of the access. false: the access cannot read one, or needs another fill than other accesses.
  bool request(const NestAccess& read, const Nest& nest) {
    if (has_fixed_[read.array]) return false;
    const auto halo = reach_beyond(read, nest, plan_);
    if (!halo || read.fill.op() != ExprOp::constant) return false;
    const auto [known, is_new] = requested_.try_emplace(read.array, HaloFill{*halo, read.fill, nest.nodes});
    if (!same_number(known->second.fill, read.fill)) return false;
    for (size_t d = 0; d < halo->before.size(); ++d) {
      known->second.halo.before[d] = std::max(known->second.halo.before[d], halo->before[d]);
      known->second.halo.after[d] = std::max(known->second.halo.after[d], halo->after[d]);
    }
    return true;
  }

  /// Lets the access read the halo; adds the group that fills it before the first such access.
  void read_halo(NestAccess& read, std::vector<Group>& groups) {
    if (filled_.insert(read.array).second) {
      Group fill = group_of_fill(read.array, requested_.at(read.array));
      if (!fill.nests.empty()) groups.push_back(std::move(fill));
    }
    read.within = read.fill = Expr();
  }

  /// The loops that fill a halo, one for each side: in dimensions before that of the side they run over the inside, in later ones over all.
  Group group_of_fill(ArrayId id, const HaloFill& halo_fill) const {
    const Array& array = plan_.arrays[id];
    Group out;
    out.payload = LoopGroup{.outer = 1, .auxiliary = true};
    std::vector<size_t> order;
    for (size_t k = 0; k < array.shape.size(); ++k) order.push_back(array.order.empty() ? k : static_cast<size_t>(array.order[k]));
    for (size_t side = 1; side < order.size(); ++side) {
      const size_t d = order[side];
      if (halo_fill.halo.before[d] > 0)
        out.nests.push_back(side_of(array, order, side, Dim(-halo_fill.halo.before[d]), halo_fill.halo.before[d]));
      if (halo_fill.halo.after[d] > 0) out.nests.push_back(side_of(array, order, side, array.shape[d], halo_fill.halo.after[d]));
    }
    for (Nest& nest : out.nests) {
      nest.outputs[0].array = id;
      nest.outputs[0].dtype = array.dtype;
      nest.outputs[0].value = halo_fill.fill;
      nest.nodes = halo_fill.nodes;
    }
    return out;
  }

  /// The loop over one side of a halo. first: its first index in that dimension; width: its elements.
  static Nest side_of(const Array& array, const std::vector<size_t>& order, size_t side, Dim first, int64_t width) {
    Nest nest;
    NestOutput out;
    out.index.resize(order.size());
    for (size_t k = 0; k < order.size(); ++k) {
      const size_t d = order[k];
      const int64_t before = k > side ? array.halo.before[d] : 0, after = k > side ? array.halo.after[d] : 0;
      const Dim start = k == side ? first : Dim(-before);
      out.index[d] = simplify(Expr::axis(static_cast<int>(k)) + Expr::dim(start));
      nest.axes.push_back({ops::Axis::Kind::parallel, k == side ? Dim(width) : array.shape[d] + before + after});
    }
    nest.outputs.push_back(std::move(out));
    return nest;
  }

  Plan& plan_;
  const std::vector<bool> has_fixed_;
  std::map<ArrayId, HaloFill> requested_;
  std::set<ArrayId> filled_;
};

}  // namespace

void add_halos(Plan& plan) { Halos(plan).run(); }

}  // namespace tenon::codegen
