// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/visible_keys.h"

#include <algorithm>
#include <limits>

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

void comparisons_in(const Expr& e, std::vector<Expr>& out) {
  if (e.op() == ExprOp::less || e.op() == ExprOp::less_equal) {
    if (std::ranges::none_of(out, [&](const Expr& o) { return same(o, e); })) out.push_back(e);
    return;
  }
  for (const Expr& a : e.args()) comparisons_in(a, out);
}

Expr replaced(const Expr& e, const Expr& what, const Expr& by) {
  if (same(e, what)) return by;
  if (e.args().empty()) return e;
  std::vector<Expr> args;
  for (const Expr& a : e.args()) args.push_back(replaced(a, what, by));
  return Expr::make(e.op(), e.dtype(), std::move(args));
}

/// The hidden score, where the score is one (a constant of at most kHiddenScore) or a sum with one; else 0.
double hidden_by(const Expr& score) {
  if (score.op() == ExprOp::constant) return score->float_value <= kHiddenScore ? score->float_value : 0;
  if (score.op() != ExprOp::add) return 0;
  return std::min(hidden_by(score.args()[0]), hidden_by(score.args()[1]));
}

/// Whether the expression is one number for all heads, queries and keys of a sequence.
bool depends_on_batch_alone(const Expr& e, const Nest& attention) {
  if (!e) return true;
  if (e.op() == ExprOp::axis) return e->index == kBatch;
  if (e.op() != ExprOp::input) return std::ranges::all_of(e.args(), [&](const Expr& a) { return depends_on_batch_alone(a, attention); });
  if (e->index == 0) return false;
  const NestAccess& a = attention.accesses[static_cast<size_t>(e->index)];
  return depends_on_batch_alone(a.flat, attention) && depends_on_batch_alone(a.within, attention) &&
         depends_on_batch_alone(a.fill, attention) &&
         std::ranges::all_of(a.index, [&](const Expr& i) { return depends_on_batch_alone(i, attention); });
}

/// A sum, split into the terms without loads and those with loads. Null: there are none.
struct SplitSum {
  Expr places, loaded;

  void add(const Expr& e, bool minus) {
    if (e.op() == ExprOp::add || e.op() == ExprOp::sub) {
      add(e.args()[0], minus);
      add(e.args()[1], minus != (e.op() == ExprOp::sub));
      return;
    }
    Expr& sum = mentions(e, ExprOp::input) ? loaded : places;
    const Expr so_far = sum ? sum : Expr::integer(DType::i64, 0);
    sum = minus ? so_far - e : so_far + e;
  }
};

/// The bound of the keys for which sum <= 0 holds; nullopt where the coefficient of the key is neither 1 nor -1.
std::optional<KeyBound> bound_of(const Affine& sum) {
  for (int axis = 0; axis < kAttentionAxes; ++axis)
    if (axis != kKey && axis != kQuery && !(sum.coefficients[axis] == Dim(0))) return std::nullopt;
  const Dim key = sum.coefficients[kKey], query = sum.coefficients[kQuery];
  if (!(key == Dim(1) || key == Dim(-1)) || !query.is_number()) return std::nullopt;
  if (key == Dim(1)) return KeyBound{true, Dim(0) - sum.offset, -query.value()};
  return KeyBound{false, sum.offset, query.value()};
}

/// The bound of the keys for which the comparison is `holds`.
std::optional<KeyBound> bound_of(const Expr& comparison, bool holds, const Nest& attention) {
  const Expr low = comparison.args()[0], high = comparison.args()[1];
  if (low.dtype() != DType::i64 || high.dtype() != DType::i64) return std::nullopt;
  // low < high means low - high + 1 <= 0; its negation means high - low <= 0.
  const bool strict = (comparison.op() == ExprOp::less) == holds;
  SplitSum split;
  split.add(holds ? low : high, false);
  split.add(holds ? high : low, true);
  auto sum = split.places ? affine_of(split.places, kAttentionAxes) : std::nullopt;
  if (!sum || !depends_on_batch_alone(split.loaded, attention)) return std::nullopt;
  if (strict) sum->offset = sum->offset + Dim(1);
  auto bound = bound_of(*sum);
  if (bound && split.loaded) bound->loaded = simplify(bound->upper ? Expr::integer(DType::i64, 0) - split.loaded : split.loaded);
  return bound;
}

}  // namespace

std::optional<VisibleKeys> visible_keys(const Nest& attention) {
  VisibleKeys out;
  out.visible_score = attention.outputs[0].value;
  out.hidden_score = -std::numeric_limits<double>::infinity();
  std::vector<Expr> comparisons;
  comparisons_in(out.visible_score, comparisons);
  for (const Expr& c : comparisons) {
    for (const bool holds : {true, false}) {
      const auto with = [&](bool value) { return Expr::integer(DType::boolean, value); };
      const double hidden = hidden_by(simplify(replaced(attention.outputs[0].value, c, with(!holds))));
      const auto bound = bound_of(c, holds, attention);
      if (hidden == 0 || !bound) continue;
      out.bounds.push_back(*bound);
      out.visible_score = simplify(replaced(out.visible_score, c, with(holds)));
      out.hidden_score = std::max(out.hidden_score, hidden);
      break;
    }
  }
  return out.bounds.empty() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace tenon::codegen
