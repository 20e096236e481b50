// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "codegen/loops/attention.h"
#include "codegen/loops/operands.h"
#include "codegen/loops/places.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

namespace {

/// One task: a block of query rows of one head. Keys pass in blocks; each row keeps its running maximum m, sum l and weighted
/// values o, rescaled when the maximum grows (online softmax, Milakov and Gimelshein, arXiv 1805.02867).
class AttentionLowering {
 public:
  AttentionLowering(Kernel& kernel, Plan& plan, const Target& target, const Tactic& tactic, const Nest& nest, double scale,
                    ops::MaskedRows rows, ArrayId keys)
      : kernel_(kernel),
        emit_(kernel, plan, target, "attention"),
        nest_(nest),
        scale_(scale),
        masked_rows_(rows),
        tactic_(tactic),
        tile_(tactic.tile) {
    for (const NestAccess& a : nest.accesses) places_.push_back(affine_of(flat_of(a, plan), kAttentionAxes));
    result_ = *affine_of(flat_of(nest.outputs[0], plan), kAttentionAxes);
    query_ = emit_.buffer(nest.accesses[0].array, false);
    keys_ = emit_.buffer(keys, false);
    values_ = emit_.buffer(nest.accesses[2].array, false);
    for (size_t k = 3; k < nest.accesses.size(); ++k) masks_.push_back(emit_.buffer(nest.accesses[k].array, false));
    out_ = emit_.buffer(nest.outputs[0].array, true);
    head_ = extent(kHeadSize).value();
    value_ = extent(kValueSize).value();
    value_pad_ = round_up(value_, panel());
    scaled_query_ = build().scratch(DType::f32, tile_.rows * head_);
    scores_ = build().scratch(DType::f32, tile_.rows * tactic_.block);
    sums_ = build().scratch(DType::f32, tile_.rows * value_pad_);
    maxima_ = build().scratch(DType::f32, tile_.rows);
    totals_ = build().scratch(DType::f32, tile_.rows);
  }

  Result<void> run() {
    const Dim blocks = ceil_div(extent(kQuery), Dim(tile_.rows));
    kernel_.tasks = extent(kBatch) * extent(kKeyHead) * extent(kSharing) * blocks;
    const Dim work = extent(kKey) * Dim(2 * tile_.rows * (head_ + value_));
    kernel_.grain = max(Dim(1), floor_div(Dim(tactic_.grain), max(Dim(1), work)));
    Result<void> status;
    build().loop(build().task_begin(), build().task_end(), number(1), [&](Reg t) {
      if (auto r = task(t, blocks); !r) status = std::move(r);
    });
    TRY(std::move(status));
    emit_.finish();
    return {};
  }

 private:
  TileBuilder& build() { return emit_.build(); }
  Reg number(int64_t v) { return emit_.integer(v); }
  int lanes() const { return emit_.lanes(); }
  int64_t panel() const { return int64_t{tile_.vectors} * emit_.lanes(); }
  Dim extent(int axis) const { return nest_.axes[axis].extent; }
  Reg real(double v) {
    ExprNode n;
    n.number = v;
    return emit_.constant({DType::f32, 1}, n);
  }
  Reg at(Reg base, Reg index, int64_t step) { return build().add(base, build().mul(index, number(step))); }

  struct Head {
    Reg axes[kAttentionAxes];
    Reg first_row;
  };

  /// Offset of a place at the head's batch and heads, and at the query row and key given (kNone: 0).
  Reg offset_of(const Affine& place, const Head& head, Reg query, Reg key) {
    Reg sum = place.offset == Dim(0) ? number(0) : emit_.dim(place.offset);
    for (int a : {kBatch, kKeyHead, kSharing}) sum = emit_.add_scaled(sum, place.coefficients[a], head.axes[a]);
    if (query != kNone) sum = emit_.add_scaled(sum, place.coefficients[kQuery], query);
    if (key != kNone) sum = emit_.add_scaled(sum, place.coefficients[kKey], key);
    return sum;
  }

  Result<void> task(Reg t, Dim blocks) {
    Head head{};
    auto take = [&](Dim n) {
      const Reg r = build().expr(ExprOp::rem, {t, emit_.dim(n)});
      t = build().expr(ExprOp::div, {t, emit_.dim(n)});
      return r;
    };
    head.first_row = build().mul(take(blocks), number(tile_.rows));
    head.axes[kSharing] = take(extent(kSharing));
    head.axes[kKeyHead] = take(extent(kKeyHead));
    head.axes[kBatch] = t;
    prepare(head);
    const Reg keys = emit_.dim(extent(kKey));
    Result<void> status;
    build().loop(number(0), keys, number(tactic_.block), [&](Reg key) {
      const Reg here = build().min(build().sub(keys, key), number(tactic_.block));
      multiply_keys(head, key, here);
      if (auto r = normalise(head, key, here); !r) status = std::move(r);
      multiply_values(head, key, here);
    });
    TRY(std::move(status));
    finish(head);
    return {};
  }

  /// Rows beyond the last query repeat it; they are computed and not stored.
  Reg query_row(const Head& head, Reg r) {
    return build().min(build().add(head.first_row, r), build().sub(emit_.dim(extent(kQuery)), number(1)));
  }

  void prepare(const Head& head) {
    build().loop(number(0), number(tile_.rows), number(1), [&](Reg r) {
      const Reg from = offset_of(*places_[0], head, query_row(head, r), kNone);
      const Dim step = places_[0]->coefficients[kHeadSize];
      for (int64_t d = 0; d < head_; d += lanes()) {
        Memory how;
        if (head_ - d < lanes()) how.mask = build().first_mask(number(head_ - d), lanes());
        Memory to = how;
        if (!(step == Dim(1))) how.stride = emit_.dim(step);
        const Reg q = build().load(query_, emit_.add_scaled(from, step, number(d)), lanes(), how);
        build().store(scaled_query_, at(number(d), r, head_), build().mul(q, real(scale_)), to);
      }
      for (int64_t v = 0; v < value_pad_; v += lanes()) build().store(sums_, at(number(v), r, value_pad_), build().splat(real(0), lanes()));
      build().store(maxima_, r, real(-std::numeric_limits<double>::infinity()));
      build().store(totals_, r, real(0));
    });
  }

  /// scores[rows][keys of the block] = scaled query times packed keys, a panel at a time.
  void multiply_keys(const Head& head, Reg key, Reg count) {
    const Dim panels = ceil_div(extent(kKey), Dim(panel()));
    const Reg number_of_head = build().add(build().mul(head.axes[kBatch], emit_.dim(extent(kKeyHead))), head.axes[kKeyHead]);
    const Reg first_panel = build().add(build().mul(number_of_head, emit_.dim(panels)), build().expr(ExprOp::div, {key, number(panel())}));
    build().loop(number(0), count, number(panel()), [&](Reg k) {
      Contract c;
      c.rows = tile_.rows;
      c.vectors = tile_.vectors;
      c.lanes = lanes();
      c.a = scaled_query_;
      c.b = keys_;
      c.a_offset = number(0);
      c.a_row = number(head_);
      c.a_k = kNone;
      c.b_offset = build().mul(build().add(first_panel, build().expr(ExprOp::div, {k, number(panel())})), number(head_ * panel()));
      c.b_k = number(panel());
      c.depth = number(head_);
      const auto sums = build().contract(std::move(c));
      for (int r = 0; r < tile_.rows; ++r)
        for (int v = 0; v < tile_.vectors; ++v)
          build().store(scores_, build().add(k, number(r * tactic_.block + int64_t{v} * lanes())),
                        sums[static_cast<size_t>(r) * tile_.vectors + v]);
    });
  }

  /// Masks the scores of each row, updates its maximum, and turns them into exp(score - maximum).
  Result<void> normalise(const Head& head, Reg key, Reg count) {
    Result<void> status;
    build().loop(number(0), number(tile_.rows), number(1), [&](Reg r) {
      const Reg line = build().mul(r, number(tactic_.block));
      const Reg lowest = build().splat(real(-std::numeric_limits<double>::infinity()), lanes());
      const Reg query = query_row(head, r);
      const auto highest = build().loop(number(0), count, number(lanes()), {lowest}, [&](Reg k, const std::vector<Reg>& before) {
        auto masked = score(head, query, build().add(key, k), build().add(line, k), build().sub(count, k));
        if (!masked) {
          status = std::unexpected(masked.error());
          return before;
        }
        build().store(scores_, build().add(line, k), *masked);
        return std::vector<Reg>{build().expr(ExprOp::max, {before[0], *masked})};
      });
      const Reg old = build().load(maxima_, r, 1);
      const Reg maximum = build().expr(ExprOp::max, {old, build().reduce(highest[0], ops::Combine::max)});
      rescale(r, line, count, old, maximum);
    });
    return status;
  }

  /// A vector of scores: one query, the keys from `key` on.
  struct Scores {
    const Head& head;
    Reg query, key, product;
    Reg inside;                               ///< mask of the lanes that hold a key
    std::unordered_map<int, Reg> loads = {};  ///< accesses of the mask that were loaded already
  };

  Result<Reg> score(const Head& head, Reg query, Reg key, Reg place, Reg left) {
    Scores s{head, query, key, build().load(scores_, place, lanes()), build().first_mask(left, lanes())};
    KernelEmitter::Place p = place_of(s);
    const Reg value = build().splat(TRY(emit_.evaluate(nest_.outputs[0].value, p)), lanes());
    return build().expr(ExprOp::select, {s.inside, value, build().splat(real(-std::numeric_limits<double>::infinity()), lanes())});
  }

  KernelEmitter::Place place_of(Scores& s) {
    KernelEmitter::Place p;
    p.axes.assign(kAttentionAxes, kNone);
    for (int a : {kBatch, kKeyHead, kSharing}) p.axes[a] = s.head.axes[a];
    p.axes[kQuery] = s.query;
    p.axes[kKey] = build().add(build().splat(s.key, lanes()), emit_.iota());
    p.load = [this, &s](int k) -> Result<Reg> {
      if (k == 0) return s.product;
      if (auto found = s.loads.find(k); found != s.loads.end()) return found->second;
      return s.loads[k] = TRY(load_mask(k, s));
    };
    return p;
  }

  /// What the mask reads for these scores: one number, or one a lane.
  Result<Reg> load_mask(int k, Scores& s) {
    const NestAccess& a = nest_.accesses[k];
    KernelEmitter::Place p = place_of(s);
    const Reg within = a.within ? TRY(emit_.evaluate(a.within, p)) : kNone;
    const bool varies = within != kNone && build().type(within).lanes > 1;
    Memory how;
    Reg offset = number(0);
    if (!places_[k]) {
      const Reg at = TRY(emit_.evaluate(flat_of(a, emit_.plan()), p));
      (build().type(at).lanes > 1 ? how.offsets : offset) = at;
    } else {
      const Dim along = places_[k]->coefficients[kKey];
      offset = offset_of(*places_[k], s.head, s.query, s.key);
      if (along == Dim(0)) how.offsets = varies ? build().splat(number(0), lanes()) : kNone;
      else how.stride = emit_.dim(along);
    }
    if (within == kNone) return load_lanes(k, offset, how, s.inside);
    const Reg fill = TRY(emit_.evaluate(a.fill, p));
    const Reg safe = varies ? offset : build().expr(ExprOp::select, {within, offset, number(0)});
    const Reg mask = varies ? build().expr(ExprOp::logical_and, {s.inside, within}) : s.inside;
    return build().expr(ExprOp::select, {within, load_lanes(k, safe, how, mask), fill});
  }

  /// One number where neither a stride nor offsets are given.
  Reg load_lanes(int k, Reg offset, Memory how, Reg mask) {
    const int32_t buffer = masks_[k - 3];
    if (how.stride == kNone && how.offsets == kNone) return build().load(buffer, offset, 1);
    if (how.stride == number(1)) how.stride = kNone;
    how.mask = mask;
    return build().load(buffer, offset, lanes(), how);
  }

  void rescale(Reg r, Reg line, Reg count, Reg old, Reg maximum) {
    // A row without any key left subtracts 0, not -inf: its weights are 0 and its total stays 0. So does a row that is to be clean and has
    // a score that no softmax takes (NaN, infinity), from there on: the maximum keeps it.
    const Reg none = build().expr(ExprOp::equal, {maximum, real(-std::numeric_limits<double>::infinity())});
    const Reg base = build().expr(ExprOp::select, {none, real(0), maximum});
    const bool cleans = masked_rows_ == ops::MaskedRows::clean;
    const Reg takes = cleans ? build().expr(ExprOp::less, {maximum, real(std::numeric_limits<double>::infinity())}) : kNone;
    const auto cleaned = [&](Reg x, int lanes) {
      if (!cleans) return x;
      const Reg all = lanes > 1 ? build().splat(takes, lanes) : takes;
      return build().expr(ExprOp::select, {all, x, lanes > 1 ? build().splat(real(0), lanes) : real(0)});
    };
    const auto total =
        build().loop(number(0), count, number(lanes()), {build().splat(real(0), lanes())}, [&](Reg k, const std::vector<Reg>& before) {
          const Reg at = build().add(line, k);
          const Reg weight = cleaned(build().expr(ExprOp::exp, {build().sub(build().load(scores_, at, lanes()), base)}), lanes());
          build().store(scores_, at, weight);
          return std::vector<Reg>{build().add(before[0], weight)};
        });
    const Reg shrink = cleaned(build().expr(ExprOp::exp, {build().sub(old, base)}), 1);
    const Reg sum = build().reduce(total[0], ops::Combine::sum);
    build().store(totals_, r, build().fma(build().load(totals_, r, 1), shrink, sum));
    build().store(maxima_, r, maximum);
    for (int64_t v = 0; v < value_pad_; v += lanes()) {
      const Reg place = at(number(v), r, value_pad_);
      build().store(sums_, place, build().mul(build().load(sums_, place, lanes()), shrink));
    }
  }

  /// sums[rows][values] += weights times values.
  void multiply_values(const Head& head, Reg key, Reg count) {
    const Reg base = offset_of(*places_[2], head, kNone, key);
    for (int64_t v = 0; v < value_; v += panel()) {
      Contract c;
      c.rows = tile_.rows;
      c.vectors = static_cast<int>(std::min<int64_t>(tile_.vectors, ceil_div(value_ - v, int64_t{lanes()})));
      c.lanes = lanes();
      c.a = scores_;
      c.b = values_;
      c.a_offset = number(0);
      c.a_row = number(tactic_.block);
      c.a_k = kNone;
      c.b_offset = build().add(base, number(v));
      c.b_k = emit_.dim(places_[2]->coefficients[kKey]);
      c.depth = count;
      const int vectors = c.vectors;
      for (int r = 0; r < tile_.rows; ++r)
        for (int x = 0; x < vectors; ++x)
          c.accumulators_in.push_back(build().load(sums_, number(r * value_pad_ + v + int64_t{x} * lanes()), lanes()));
      const auto sums = build().contract(std::move(c));
      for (int r = 0; r < tile_.rows; ++r)
        for (int x = 0; x < vectors; ++x)
          build().store(sums_, number(r * value_pad_ + v + int64_t{x} * lanes()), sums[static_cast<size_t>(r) * vectors + x]);
    }
  }

  void finish(const Head& head) {
    const Reg valid = build().min(number(tile_.rows), build().sub(emit_.dim(extent(kQuery)), head.first_row));
    build().loop(number(0), valid, number(1), [&](Reg r) {
      const Reg to = offset_of(result_, head, build().add(head.first_row, r), kNone);
      // A row that may see no key at all is 0/0; divided by 1 its weights are 0.
      const Reg weights = build().load(totals_, r, 1);
      const bool divides = masked_rows_ == ops::MaskedRows::nan;
      const Reg total =
          divides ? weights : build().expr(ExprOp::select, {build().expr(ExprOp::equal, {weights, real(0)}), real(1), weights});
      const Dim step = result_.coefficients[kValueSize];
      for (int64_t v = 0; v < value_; v += lanes()) {
        Memory how;
        if (value_ - v < lanes()) how.mask = build().first_mask(number(value_ - v), lanes());
        if (!(step == Dim(1))) how.stride = emit_.dim(step);
        const Reg sum = build().load(sums_, at(number(v), r, value_pad_), lanes());
        build().store(out_, emit_.add_scaled(to, step, number(v)), build().expr(ExprOp::div, {sum, build().splat(total, lanes())}), how);
      }
    });
  }

  Kernel& kernel_;
  KernelEmitter emit_;
  const Nest& nest_;
  const double scale_;
  const ops::MaskedRows masked_rows_;
  const Tactic& tactic_;
  const Tile tile_;
  std::vector<std::optional<Affine>> places_;  ///< of query, key and value they are known
  Affine result_;
  int32_t query_ = -1, keys_ = -1, values_ = -1, out_ = -1;
  std::vector<int32_t> masks_;
  int32_t scaled_query_ = -1, scores_ = -1, sums_ = -1, maxima_ = -1, totals_ = -1;
  int64_t head_ = 0, value_ = 0, value_pad_ = 0;
};

/// Query, key and value are walked in steps; a mask may be read anywhere.
Result<void> places_known(const Nest& nest, const Plan& plan) {
  for (size_t k = 0; k < 3; ++k)
    if (nest.accesses[k].within || !affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes))
      return fail(Code::not_supported, "", "not supported yet: attention over operands whose places are not affine");
  return {};
}

}  // namespace

Result<std::vector<Kernel>> lower_attention(const Group& group, const Tactic& tactic, Plan& plan, const Target& target) {
  Nest nest = group.nests[0];
  std::vector<Kernel> kernels;
  std::vector<Nest> before;
  Contraction keys;
  keys.rows_operand = {Expr::input(0, DType::f32), {0}};
  keys.lanes_operand = {Expr::input(1, DType::f32), {1}};
  keys.batch = {{{kBatch}, nest.axes[kBatch].extent}, {{kKeyHead}, nest.axes[kKeyHead].extent}};
  keys.lanes = {{{kKey}, nest.axes[kKey].extent}};
  keys.depth = {{{kHeadSize}, nest.axes[kHeadSize].extent}};
  const ArrayId packed = TRY(pack_operand(nest, keys, int64_t{tactic.tile.vectors} * target.lanes(), plan, before));
  const int64_t value_size = nest.axes[kValueSize].extent.value();
  auto values = affine_of(flat_of(nest.accesses[2], plan), kAttentionAxes);
  if (!values || !(values->coefficients[kValueSize] == Dim(1)) || value_size % target.lanes() != 0)
    copy_operand(nest, 2, {kBatch, kKeyHead, kKey, kValueSize}, target.lanes(), plan, before);
  TRY(places_known(nest, plan));
  for (Nest& n : before) kernels.push_back(TRY(lower_nest(std::move(n), plan, target)));
  Kernel kernel;
  AttentionLowering lowering(kernel, plan, target, tactic, nest, group.scale, group.masked_rows, packed);
  TRY(lowering.run());
  const Dim pairs = nest.axes[kBatch].extent * nest.axes[kKeyHead].extent * nest.axes[kSharing].extent * nest.axes[kQuery].extent *
                    nest.axes[kKey].extent;
  kernel.flops = pairs * Dim(2) * (nest.axes[kHeadSize].extent + nest.axes[kValueSize].extent);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic, GroupKind::attention);
  kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace tenon::codegen
