// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/plan_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/analysis/attention.h"
#include "codegen/analysis/bounds.h"
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/verify_states.h"

namespace tenon::codegen {

namespace {

class PlanVerifier {
 public:
  PlanVerifier(const Plan& plan, const ir::Graph* graph)
      : plan_(plan), graph_(graph), written_(plan.arrays.size()), last_writer_(plan.arrays.size(), -1) {}

  PlanReport run() {
    for (size_t a = 0; a < plan_.arrays.size(); ++a) check_array(static_cast<ArrayId>(a));
    if (!out_.wrong.empty()) return std::move(out_);
    for (ArrayId a : plan_.inputs) written_[a] = true;
    for (const PlanState& s : plan_.states)
      if (s.in_place) written_[plan_.outputs[s.output]] = true;  // the part of it that the old value has
    for (size_t g = 0; g < plan_.groups.size(); ++g)
      each_written(plan_.groups[g], [&](ArrayId a) { last_writer_[a] = static_cast<int64_t>(g); });
    for (size_t g = 0; g < plan_.groups.size(); ++g) check_group(g);
    where_ = "outputs";
    for (ArrayId a : plan_.outputs) check(is_written(a), "a result that nothing makes", name(a));
    verify_states(plan_, out_);
    return std::move(out_);
  }

 private:
  /// Adds a violation to the report unless `holds`.
  void check(bool holds, std::string_view what, const std::string& found) {
    if (!holds) out_.wrong.push_back(fmt::format("{}, {}: {}", where_, what, found));
  }
  std::string name(ArrayId a) const { return fmt::format("array {}", a); }
  bool exists(ArrayId a) const { return a >= 0 && a < static_cast<ArrayId>(plan_.arrays.size()); }

  // --- arrays

  void check_array(ArrayId id) {
    const Array& a = plan_.arrays[id];
    where_ = name(id);
    std::vector<bool> seen(a.shape.size());
    for (int d : a.order)
      if (d >= 0 && d < static_cast<int>(seen.size())) seen[d] = true;
    check(a.order.empty() || (a.order.size() == seen.size() && std::ranges::all_of(seen, [](bool b) { return b; })),
          "a memory order that is no permutation", fmt::format("{} of {}", a.order.size(), text_of(a.shape)));
    const bool has_rank = a.halo.empty() || (a.halo.before.size() == seen.size() && a.halo.after.size() == seen.size());
    check(has_rank, "a halo of another rank", fmt::format("{} of {}", a.halo.before.size(), text_of(a.shape)));
    if (!out_.wrong.empty()) return;
    check(a.strides == strides_of(a), "strides that are not those of its order", text_of(a.strides));
    check(!a.fixed_layout || is_dense(a), "a memory order that others do not expect", text_of(a.strides));
    if (a.constant) {
      DimList shape(a.constant->shape.begin(), a.constant->shape.end());
      check(a.shape == shape, "a shape that its constant does not have", text_of(a.shape));
    }
    if (a.same_bytes >= 0) check_shared_bytes(a);
  }

  static bool is_dense(const Array& a) { return a.order.empty() && a.row_padding == 0 && a.halo.empty(); }

  void check_shared_bytes(const Array& a) {
    check(exists(a.same_bytes), "bytes of no array", name(a.same_bytes));
    ArrayId owner = a.same_bytes;
    for (size_t steps = 0; exists(owner) && steps <= plan_.arrays.size(); ++steps) owner = plan_.arrays[owner].same_bytes;
    check(owner < 0, "bytes of an array that shares its own", name(a.same_bytes));
    if (!out_.wrong.empty()) return;
    const Array& from = plan_.arrays[a.same_bytes];
    check(is_dense(a) && is_dense(from) && !a.growing && !from.growing, "shared bytes in another order", text_of(from.strides));
    const Dim elements = product(a.shape), owner_elements = product(from.shape);
    check(elements.equals(owner_elements) != std::optional(false), "shared bytes of another count",
          text_of(a.shape) + " of " + text_of(from.shape));
    if (!is_equal(elements, owner_elements))
      out_.unproved.push_back(fmt::format("{}, shared bytes: {} of {}", where_, text_of(a.shape), text_of(from.shape)));
  }

  bool is_equal(Dim a, Dim b) const {
    if (a.known_equal(b)) return true;
    const Bounds bounds(Nest{}, plan_.assumptions);
    const Expr x = Expr::dim(a), y = Expr::dim(b);
    return bounds.inside(x, b + 1, {}) == std::optional(true) && bounds.inside(y, a + 1, {}) == std::optional(true);
  }

  // --- dependency order

  template <class F>
  static void each_written(const Group& g, F f) {
    for (const Nest& n : g.nests)
      for (const NestOutput& o : n.outputs) f(o.array);
    if (g.epilogue)
      for (const NestOutput& o : g.epilogue->map.outputs) f(o.array);
    for (ArrayId a : g.outputs)
      if (a >= 0) f(a);
  }

  bool is_written(ArrayId a) const {
    for (; a >= 0; a = plan_.arrays[a].same_bytes)
      if (written_[a] || plan_.arrays[a].constant) return true;
    return false;
  }

  void check_read(ArrayId a, int64_t group) {
    check(is_written(a), "a read before it is written", name(a));
    for (ArrayId b = a; b >= 0; b = plan_.arrays[b].same_bytes)
      check(last_writer_[b] <= group, "a read before all of it is written", name(b));
  }

  // --- nests

  void check_place(const std::vector<Expr>& index, const Expr& flat, ArrayId id, const Nest& nest, const Expr& within,
                   const std::string& what) {
    const Array& array = plan_.arrays[id];
    ++out_.accesses;
    check(static_cast<bool>(flat) != !index.empty() || (!flat && array.shape.empty()), "neither an index nor an element number", what);
    check(flat || index.size() == array.shape.size(), "an index of another rank", what);
    for (const Expr& e : index) check_leaves(e, nest, what);
    check_leaves(flat, nest, what);
    check_leaves(within, nest, what);
    if (out_.wrong.empty() && !is_empty(nest)) check_inside(index, flat, array, nest, within, what);
  }

  static bool is_empty(const Nest& nest) {
    return std::ranges::any_of(nest.axes, [](const ops::Axis& a) { return a.extent == Dim(0); });
  }

  const Bounds& bounds_of(const Nest& nest) {
    if (bounds_nest_ != &nest) bounds_.emplace(nest, plan_.assumptions), bounds_nest_ = &nest;
    return *bounds_;
  }

  /// Checks that the place is inside its array, halo included. Loaded indices are left out: lowering clamps them.
  void check_inside(const std::vector<Expr>& index, const Expr& flat, const Array& array, const Nest& nest, const Expr& within,
                    const std::string& what) {
    const Bounds& bounds = bounds_of(nest);
    const auto check_range = [&](const Expr& e, Dim extent, const std::string& which) {
      if (mentions(e, ExprOp::input)) return;
      const auto inside = bounds.inside(e, extent, within);
      if (inside == std::optional(true)) return;
      const std::string text = fmt::format("{}{}, {} in {} of {}", what, which, e.text(), bounds.range(e), extent.text());
      if (!inside) out_.unproved.push_back(fmt::format("{}, {}", where_, text));
      check(inside != std::optional(false), "outside of its array", text);
    };
    if (flat) check_range(flat, product(array.shape), "");
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t before = array.halo.empty() ? 0 : array.halo.before[d], after = array.halo.empty() ? 0 : array.halo.after[d];
      const Expr at = before == 0 ? index[d] : simplify(index[d] + Expr::integer(DType::i64, before));
      check_range(at, array.shape[d] + before + after, fmt::format(" dimension {}", d));
    }
  }

  /// Checks that axes and loads in the expression exist in the nest.
  void check_leaves(const Expr& e, const Nest& nest, const std::string& what) {
    if (!e) return;
    const int count = static_cast<int>(nest.axes.size());
    const auto visit = [&](const auto& self, const Expr& x) -> bool {
      if (x.op() == ExprOp::axis) return x->index >= 0 && x->index < count;
      if (x.op() == ExprOp::input) return x->index >= 0 && x->index < static_cast<int>(nest.accesses.size());
      return std::ranges::all_of(x.args(), [&](const Expr& a) { return self(self, a); });
    };
    if (mentions(e, ExprOp::axis) || mentions(e, ExprOp::input)) check(visit(visit, e), "an axis or a load that the nest lacks", what);
  }

  void check_nest(const Nest& n, int64_t group) {
    if (graph_ && !n.nodes.empty()) where_ = fmt::format("group {} ({})", group, graph_->view(n.nodes[0]).where());
    for (size_t k = 0; k < n.accesses.size(); ++k)
      check_access(n.accesses[k], n, group, fmt::format("access {} of array {}", k, n.accesses[k].array));
    for (size_t k = 0; k < n.outputs.size(); ++k)
      check_output(n.outputs[k], n, fmt::format("output {} to array {}", k, n.outputs[k].array));
    check_condition(n);
    for (const NestOutput& o : n.outputs)
      if (exists(o.array)) written_[o.array] = true;
  }

  /// A condition is a bool that is loaded without a `within`, by parallel axes alone.
  void check_condition(const Nest& n) {
    if (n.condition < 0) return;
    const std::string what = fmt::format("condition {}", n.condition);
    check(n.condition < static_cast<int>(n.accesses.size()), "a condition that is no load of the nest", what);
    if (!out_.wrong.empty()) return;
    const NestAccess& a = n.accesses[static_cast<size_t>(n.condition)];
    check(a.dtype == DType::boolean && !a.within, "a condition that is no bool everywhere", what);
    check(!scatters(n), "a condition of loops that write at loaded places", what);
    for (int x = 0; x < static_cast<int>(n.axes.size()); ++x)
      check(!is_axis_of_condition(n, x) || n.axes[static_cast<size_t>(x)].kind == ops::Axis::Kind::parallel,
            "a condition that a reduced axis walks", what);
  }

  void check_access(const NestAccess& a, const Nest& n, int64_t group, const std::string& what) {
    check(exists(a.array), "no such array", what);
    if (!exists(a.array)) return;
    check(a.dtype == plan_.arrays[a.array].dtype, "a load of another dtype", what);
    check(!a.within || a.fill, "no value outside", what);
    check_read(a.array, group);
    check_place(a.index, a.flat, a.array, n, a.within, what);
  }

  void check_output(const NestOutput& o, const Nest& n, const std::string& what) {
    check(exists(o.array), "no such array", what);
    if (!exists(o.array)) return;
    const Array& to = plan_.arrays[o.array];
    check(o.dtype == to.dtype && !to.constant && to.same_bytes < 0, "a place that cannot be written", what);
    check_leaves(o.value, n, what);
    check_place(o.index, o.flat, o.array, n, o.within, what);
  }

  // --- groups

  void check_group(size_t number) {
    const Group& g = plan_.groups[number];
    const int64_t at = static_cast<int64_t>(number);
    where_ = fmt::format("group {}", number);
    for (ArrayId a : g.inputs)
      if (a >= 0) check_read(a, at);
    for (const Nest& n : g.nests) check_nest(n, at);
    if (g.kind() == GroupKind::nests) check_loops(g);
    if (g.kind() == GroupKind::contract) check_contraction(g);
    if (g.kind() == GroupKind::attention) check_attention(g);
    if (g.epilogue) check_nest(g.epilogue->map, at);
    for (ArrayId a : g.outputs)
      if (a >= 0) written_[a] = true;
  }

  void check_loops(const Group& g) {
    check(!g.nests.empty(), "a group without a loop", "0 nests");
    check(g.nests.size() == 1 || g.outer() > 0, "loops that share no axis", fmt::format("{} nests", g.nests.size()));
    for (const Nest& n : g.nests)
      for (int x = 0; g.nests.size() > 1 && x < g.outer(); ++x) {
        const bool fits = x < static_cast<int>(n.axes.size()) && n.axes[x].kind == ops::Axis::Kind::parallel;
        check(fits && n.axes[x].extent == g.nests[0].axes[x].extent, "an axis that is not shared", fmt::format("axis {}", x));
      }
  }

  void check_contraction(const Group& g) {
    check(g.nests.size() == 1 && factors_of(g.nests[0]), "a contraction that is no sum of products",
          fmt::format("{} nests", g.nests.size()));
    if (!out_.wrong.empty()) return;
    check(same_roles(g.contraction(), contraction_of(g.nests[0], plan_)), "a contraction with roles of another nest",
          text_of(g.nests[0], plan_));
    if (!g.epilogue) return;
    const auto& accesses = g.epilogue->map.accesses;
    const size_t k = static_cast<size_t>(g.epilogue->accumulator);
    const bool maps = g.epilogue->columns == 1 ? is_map(g.epilogue->map) : is_joint_map(g.epilogue->map);
    check(maps && k < accesses.size() && accesses[k].array == g.nests[0].outputs[0].array, "an epilogue of something else",
          fmt::format("access {}", k));
  }

  static bool same_roles(const Contraction* a, const std::optional<Contraction>& b) {
    if (!a || !b) return false;
    const auto same = [](const std::vector<JointAxis>& x, const std::vector<JointAxis>& y) {
      return std::ranges::equal(x, y, [](const JointAxis& p, const JointAxis& q) { return p.axes == q.axes && p.extent == q.extent; });
    };
    return a->sum == b->sum && (a->group == b->group || a->group == 1) && a->scale == b->scale &&
           a->rows_operand.accesses == b->rows_operand.accesses && a->lanes_operand.accesses == b->lanes_operand.accesses &&
           same(a->batch, b->batch) && same(a->rows, b->rows) && same(a->lanes, b->lanes) && same(a->depth, b->depth);
  }

  void check_attention(const Group& g) {
    const bool whole = g.nests.size() == 1 && g.nests[0].axes.size() == kAttentionAxes && g.nests[0].accesses.size() >= 3;
    check(whole, "attention without its axes", fmt::format("{} nests", g.nests.size()));
    for (size_t k = 0; whole && k < 3; ++k) {
      const NestAccess& a = g.nests[0].accesses[k];
      const bool is_affine =
          !a.within && (a.flat ? affine_of(a.flat, kAttentionAxes).has_value()
                               : std::ranges::all_of(a.index, [](const Expr& e) { return affine_of(e, kAttentionAxes).has_value(); }));
      check(is_affine, "an operand of attention that is not walked in steps", fmt::format("access {}", k));
    }
    if (whole && g.as<AttentionGroup>().value_scale >= 0) check_value_scale(g.nests[0], g.as<AttentionGroup>());
  }

  /// The scale of values is one number for each row of values.
  void check_value_scale(const Nest& nest, const AttentionGroup& g) {
    const auto k = static_cast<size_t>(g.value_scale);
    check(plan_.sums_in_order && !g.longest_sequence, "scaled values where kernels do not scale", fmt::format("access {}", k));
    check(k >= 3 && k < nest.accesses.size(), "a scale of values that is no operand", fmt::format("access {}", k));
    if (!out_.wrong.empty()) return;
    const NestAccess& a = nest.accesses[k];
    const bool is_loaded =
        mentions(a.flat, ExprOp::input) || std::ranges::any_of(a.index, [](const Expr& e) { return mentions(e, ExprOp::input); });
    const bool varies =
        std::ranges::any_of(std::array{kSharing, kQuery, kHeadSize, kValueSize}, [&](int axis) { return moves_along(a, axis); });
    check(a.dtype == DType::f32 && !a.within && !is_loaded && !varies, "a scale that differs within a row of values",
          fmt::format("access {}", k));
  }

  const Plan& plan_;
  const ir::Graph* graph_;
  PlanReport out_;
  std::string where_;                 ///< what is being checked, for the report
  std::vector<bool> written_;         ///< by array: some group before has written it
  std::vector<int64_t> last_writer_;  ///< by array: the last group that writes it; -1: none
  const Nest* bounds_nest_ = nullptr;
  std::optional<Bounds> bounds_;  ///< of that nest
};

}  // namespace

PlanReport examine(const Plan& plan, const ir::Graph* graph) { return PlanVerifier(plan, graph).run(); }

Result<void> verify(const Plan& plan) {
  const PlanReport report = examine(plan);
  if (report.wrong.empty()) return {};
  return fail(Code::internal, "plan", "an invariant of the plan does not hold").found(report.wrong[0]);
}

}  // namespace tenon::codegen
