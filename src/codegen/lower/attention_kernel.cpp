// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <tuple>

#include "base/checked.h"
#include "codegen/loops/places.h"
#include "codegen/lower/attention_kernel.h"
#include "codegen/lower/attention_keys.h"
#include "codegen/lower/attention_scores.h"

namespace tenon::codegen {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One task: a tile of queries of one head, which lie along the lanes. Keys and values are read where they are, one key a row of the
/// register tile, so that a softmax needs no sum over lanes and a mask of keys is one number for all queries. Keys pass in blocks: scores
/// of one are kept whole. Where there are more, each query keeps its running maximum m, sum l and weighted values o, rescaled from block to
/// block (online softmax, Milakov and Gimelshein, arXiv 1805.02867).
class AttentionLowering {
 public:
  /// joins: the kernel behind the one that leaves the sums of parts.
  AttentionLowering(Kernel& kernel, Plan& plan, const Target& target, const Tactic& tactic, const Nest& nest, const Group& group,
                    const KeyParts& parts, bool joins)
      : kernel_(kernel),
        emit_(kernel, plan, target, joins ? "attention_join" : "attention"),
        nest_(nest),
        scale_(group.scale),
        masked_rows_(group.masked_rows),
        tactic_(tactic),
        tile_(tactic.tile),
        longest_(group.longest),
        parts_(parts),
        joins_(joins),
        visible_(longest_ ? std::nullopt : visible_keys(nest)) {
    for (size_t k = 0; k < 3; ++k) places_[k] = *affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes);
    result_ = *affine_of(flat_of(nest.outputs[0], plan), kAttentionAxes);
    if (!joins) {
      for (size_t k = 0; k < 3; ++k) operands_[k] = emit_.buffer(nest.accesses[k].array, false);
      scores_of_.emplace(emit_, nest);
    }
    if (parts.several()) left_sums_ = emit_.buffer(parts.sums, !joins), left_weights_ = emit_.buffer(parts.weights, !joins);
    for (size_t k = 0; k < 2 && longest_; ++k) starts_[k] = emit_.buffer(group.inputs[k], false);
    out_ = emit_.buffer(nest.outputs[0].array, true);
    head_ = extent(kHeadSize).value();
    value_ = extent(kValueSize).value();
    value_pad_ = padded_values(nest, tile_, target);
    block_ = extent(kKey).is_number() ? std::min(tactic.block, extent(kKey).value()) : tactic.block;
    const int64_t queries = int64_t{tile_.vectors} * lanes();
    scaled_query_ = build().scratch(DType::f32, queries * round_up(head_, int64_t{lanes()}));
    scores_ = build().scratch(DType::f32, queries * std::max<int64_t>(block_, 1));
    sums_ = build().scratch(DType::f32, queries * value_pad_);
    maxima_ = build().scratch(DType::f32, queries);
    totals_ = build().scratch(DType::f32, queries);
    factors_ = build().scratch(DType::f32, queries);
    if (joins) part_factors_ = build().scratch(DType::f32, queries);
  }

  Result<void> run() {
    const Dim queries = tile_.vectors * lanes();
    blocks_ = longest_ ? max(Dim(1), ceil_div(*longest_, queries)) : ceil_div(extent(kQuery), queries);
    kernel_.tasks = joins_ ? parts_.tasks_of_join() : parts_.tiles * parts_.parts;
    const Dim keys = longest_ ? floor_div(extent(kKey), max(Dim(1), extent(kBatch))) : extent(kKey);
    const Dim work =
        joins_ ? parts_.parts * queries * Dim(2 * value_) : floor_div(keys, parts_.parts) * queries * Dim(2 * (head_ + value_));
    kernel_.grain = max(Dim(1), floor_div(Dim(tactic_.grain), max(Dim(1), work)));
    build().loop(build().task_begin(), build().task_end(), number(1), [&](Reg t) { task(t); });
    TRY(std::move(status_));
    emit_.finish();
    return {};
  }

 private:
  TileBuilder& build() { return emit_.build(); }
  Reg number(int64_t v) { return emit_.integer(v); }
  int lanes() const { return emit_.lanes(); }
  Dim extent(int axis) const { return nest_.axes[axis].extent; }
  Reg real(double v) {
    ExprNode n;
    n.number = v;
    return emit_.constant({DType::f32, 1}, n);
  }
  Reg vector(double v) { return build().splat(real(v), lanes()); }
  /// base + index * step
  Reg at(Reg base, Reg index, int64_t step) { return build().add(base, build().mul(index, number(step))); }
  /// NaN need not win: its weight is NaN.
  Reg higher(Reg a, Reg b) { return build().expr(ExprOp::select, {build().expr(ExprOp::less, {a, b}), b, a}); }

  /// Queries of one head: `vectors` vectors, of which `valid` queries are there.
  struct Queries {
    AttentionPoint head;
    Reg first = kNone, valid = kNone;
    Reg end = kNone;                             ///< behind the last query
    Reg first_key = kNone, end_of_keys = kNone;  ///< those that are there, or the task's part of them
    Reg tile = kNone, slot = kNone;              ///< numbers of the tile, and of the part of all parts, where there are several
    int vectors = 0;
    std::vector<QueryLanes> lanes = {};
    KeyRange keys = {};
  };
  int64_t width(const Queries& q) const { return int64_t{q.vectors} * lanes(); }

  void task(Reg t) {
    const auto take = [&](Dim n) {
      const Reg r = build().expr(ExprOp::rem, {t, emit_.dim(n)});
      t = build().expr(ExprOp::div, {t, emit_.dim(n)});
      return r;
    };
    Queries q;
    q.head.fill(kNone);
    q.vectors = tile_.vectors;
    q.slot = t;
    const Reg part = parts_.several() && !joins_ ? take(parts_.parts) : kNone;
    q.tile = t;
    const Reg block = take(blocks_);
    q.first = build().mul(block, number(width(q)));
    q.head[kSharing] = take(extent(kSharing));
    q.head[kKeyHead] = take(extent(kKeyHead));
    q.head[kBatch] = t;
    if (longest_) return sequence(q, block);
    q.end = emit_.dim(extent(kQuery));
    const auto start_of = [&](Reg p) {
      return build().expr(ExprOp::div, {build().mul(p, emit_.dim(extent(kKey))), emit_.dim(parts_.parts)});
    };
    q.first_key = part == kNone ? number(0) : start_of(part);
    q.end_of_keys = part == kNone ? emit_.dim(extent(kKey)) : start_of(build().add(part, number(1)));
    tile(q);
  }

  /// Where the rows of the task's sequence begin and end: `side` 0: queries, 1: keys. Held inside the `rows` that there are.
  std::pair<Reg, Reg> rows_of(const Queries& q, size_t side, Reg rows) {
    const auto held = [&](Reg at, Reg least) { return build().expr(ExprOp::max, {build().min(at, rows), least}); };
    const Reg begin = held(build().load(starts_[side], q.head[kBatch], 1), number(0));
    return {begin, held(build().load(starts_[side], build().add(q.head[kBatch], number(1)), 1), begin)};
  }

  /// A block of queries of a packed sequence, where it has that many; the last block takes what is left of a longer one.
  void sequence(Queries q, Reg block) {
    const auto [begin, end] = rows_of(q, 0, emit_.dim(extent(kQuery)));
    std::tie(q.first_key, q.end_of_keys) = rows_of(q, 1, emit_.dim(extent(kKey)));
    q.end = end;
    const Reg from = build().add(begin, q.first), next = build().min(end, build().add(from, number(width(q))));
    const Reg is_last = build().expr(ExprOp::equal, {block, build().sub(emit_.dim(blocks_), number(1))});
    build().loop(from, build().expr(ExprOp::select, {is_last, end, next}), number(width(q)), [&](Reg first) {
      q.first = first;
      tile(q);
    });
  }

  void tile(Queries q) {
    q.valid = build().min(number(width(q)), build().sub(q.end, q.first));
    if (tile_.vectors == 1) return attend(q);
    Queries few = q;
    few.vectors = 1;
    const auto run = [&](const Queries& some) {
      attend(some);
      return std::vector<Reg>{};
    };
    build().branch(build().expr(ExprOp::less_equal, {q.valid, number(lanes())}), [&] { return run(few); }, [&] { return run(q); });
  }

  void attend(Queries q) {
    begin(q);
    if (joins_) {
      join_parts(q);
      return finish(q);
    }
    prepare(q);
    if (visible_)
      q.keys = key_range(emit_, *visible_, q.first, build().sub(build().add(q.first, q.valid), number(1)), emit_.dim(extent(kKey)));
    const auto whole = [&] {
      visible_ ? attend_visible(q, q.end_of_keys) : attend_to(q, q.first_key, q.end_of_keys, q.first_key);
      finish(q);
      return std::vector<Reg>{};
    };
    const auto in_part = [&] {
      attend_to(q, q.first_key, q.end_of_keys, q.first_key);
      leave(q);
      return std::vector<Reg>{};
    };
    if (!parts_.several()) return void(whole());
    if (parts_.parts.is_number()) return void(in_part());
    build().branch(build().expr(ExprOp::equal, {emit_.dim(parts_.parts), number(1)}), whole, in_part);
  }

  void attend_to(const Queries& q, Reg from, Reg to, Reg very_first) {
    build().loop(from, to, number(tactic_.block), [&](Reg key) {
      const Reg here = build().min(build().sub(to, key), number(tactic_.block));
      normalise(q, build().expr(ExprOp::logical_not, {build().expr(ExprOp::equal, {key, very_first})}), here, multiply_keys(q, key, here));
      multiply_values(q, key, here);
    });
  }

  /// The keys that some query sees; those before and behind only where a query has seen none: then the hidden ones share its weight.
  void attend_visible(const Queries& q, Reg keys) {
    build().loop(number(0), number(3), number(1), [&](Reg part) {
      const auto is = [&](int64_t n) { return build().expr(ExprOp::equal, {part, number(n)}); };
      const auto of_part = [&](Reg seen, Reg before, Reg behind) {
        return build().expr(ExprOp::select, {is(0), seen, build().expr(ExprOp::select, {is(1), before, behind})});
      };
      const Reg from = of_part(q.keys.begin, number(0), q.keys.end), to = of_part(q.keys.end, q.keys.begin, keys);
      const Reg wanted = build().expr(ExprOp::logical_or, {is(0), has_seen_nothing(q)});
      attend_to(q, from, build().expr(ExprOp::select, {wanted, to, from}), build().expr(ExprOp::select, {is(0), from, number(-1)}));
    });
  }

  /// Whether the highest score of some query is a hidden one.
  Reg has_seen_nothing(const Queries& q) {
    Reg lowest = vector(kInfinity);
    for (int v = 0; v < q.vectors; ++v) {
      const Reg highest = build().load(maxima_, number(int64_t{v} * lanes()), lanes());
      const Reg there = build().expr(ExprOp::select, {q.lanes[static_cast<size_t>(v)].inside, highest, vector(kInfinity)});
      lowest = build().min(lowest, there);
    }
    return build().expr(ExprOp::less_equal, {build().reduce(lowest, ops::Combine::min), real(visible_->hidden / 4)});
  }

  /// Rows beyond the last query repeat it; they are computed and not stored.
  Reg query_row(const Queries& q, Reg r) { return build().min(build().add(q.first, r), build().sub(q.end, number(1))); }

  void begin(const Queries& q) {
    for (int v = 0; v < q.vectors; ++v) {
      build().store(maxima_, number(int64_t{v} * lanes()), vector(-kInfinity));
      build().store(totals_, number(int64_t{v} * lanes()), vector(0));
    }
    build().loop(number(0), number(width(q) * value_pad_), number(lanes()), [&](Reg i) { build().store(sums_, i, vector(0)); });
  }

  void prepare(Queries& q) {
    const Reg last = build().sub(q.end, number(1));
    for (int v = 0; v < q.vectors; ++v) {
      QueryLanes l;
      l.first = build().add(q.first, number(int64_t{v} * lanes()));
      l.all = build().min(build().add(build().splat(l.first, lanes()), emit_.iota()), build().splat(last, lanes()));
      l.inside = build().first_mask(build().sub(q.valid, number(int64_t{v} * lanes())), lanes());
      q.lanes.push_back(l);
    }
    if (auto r = scores_of_->enter_queries(nest_.outputs[0].value, q.head, q.lanes); !r) status_ = std::move(r);
    turn_queries(q);
  }

  /// scaled_query[head size][queries], by squares of registers.
  void turn_queries(const Queries& q) {
    const Dim step = places_[0].coefficients[kHeadSize];
    build().loop(number(0), number(width(q)), number(lanes()), [&](Reg r) {
      build().loop(number(0), number(head_), number(lanes()), [&](Reg d) {
        Memory how;
        if (head_ % lanes() != 0) how.mask = build().first_mask(build().sub(number(head_), d), lanes());
        if (!(step == Dim(1))) how.stride = emit_.dim(step);
        std::vector<Reg> rows;
        for (int i = 0; i < lanes(); ++i) {
          AttentionPoint point = q.head;
          point[kQuery] = query_row(q, build().add(r, number(i)));
          const Reg from = emit_.add_scaled(element_at(emit_, places_[0], point), step, d);
          rows.push_back(build().mul(build().load(operands_[0], from, lanes(), how), vector(scale_)));
        }
        const std::vector<Reg> columns = build().transpose(std::move(rows));
        for (int i = 0; i < lanes(); ++i)
          build().store(scaled_query_, at(r, build().add(d, number(i)), width(q)), columns[static_cast<size_t>(i)]);
      });
    });
  }

  /// scores[keys of the block][queries] from `key` on; returns the highest of each query.
  std::vector<Reg> multiply_keys(const Queries& q, Reg key, Reg count) {
    const std::vector<Reg> lowest(static_cast<size_t>(q.vectors), vector(-kInfinity));
    const auto all = [&](int rows) {
      return build().loop(number(0), count, number(rows), lowest, [&](Reg k, const std::vector<Reg>& highest) {
        // The last rows come twice where they fill no tile: it says the same again.
        const Reg first = rows == 1 ? k : build().min(k, build().sub(count, number(rows)));
        ask_for_results(q, build().expr(ExprOp::div, {k, number(rows)}));
        return tile_of_keys(q, key, first, rows, highest);
      });
    };
    if (tile_.rows == 1) return all(1);
    return build().branch(
        build().expr(ExprOp::less_equal, {number(tile_.rows), count}), [&] { return all(tile_.rows); }, [&] { return all(1); });
  }

  /// Cache lines of results come from the cores that read what was there before, a few with each tile of keys: all at once would keep
  /// keys waiting.
  void ask_for_results(const Queries& q, Reg tile_of_keys) {
    constexpr int64_t kQueriesATile = 4;
    if (!(result_.coefficients[kValueSize] == Dim(1)) || parts_.several()) return;  // of parts another kernel writes them
    const Reg from = build().mul(tile_of_keys, number(kQueriesATile)), to = build().add(from, number(kQueriesATile));
    build().loop(from, build().min(to, q.valid), number(1), [&](Reg r) {
      AttentionPoint point = q.head;
      point[kQuery] = build().add(q.first, r);
      const Reg row = element_at(emit_, result_, point);
      for (int64_t v = 0; v < value_; v += lanes()) build().prefetch(out_, build().add(row, number(v)));
    });
  }

  std::vector<Reg> tile_of_keys(const Queries& q, Reg key, Reg first, int rows, const std::vector<Reg>& highest) {
    AttentionPoint point = q.head;
    point[kKey] = build().add(key, first);
    Contract c;
    c.rows = rows;
    c.vectors = q.vectors;
    c.lanes = lanes();
    c.a = operands_[1];
    c.b = scaled_query_;
    c.a_offset = element_at(emit_, places_[1], point);
    c.a_row = emit_.dim(places_[1].coefficients[kKey]);
    c.a_k = emit_.dim(places_[1].coefficients[kHeadSize]);
    c.b_offset = number(0);
    c.b_k = number(width(q));
    c.depth = number(head_);
    const auto products = build().contract(std::move(c));
    const auto scored = [&](const Expr& score) { return keep_scores(q, score, point, first, products, highest); };
    if (!visible_) return scored(nest_.outputs[0].value);
    const Reg reach = build().add(point[kKey], number(rows));
    const Reg clear = build().expr(ExprOp::logical_and, {build().expr(ExprOp::less_equal, {q.keys.clear_begin, point[kKey]}),
                                                         build().expr(ExprOp::less_equal, {reach, q.keys.clear_end})});
    return build().branch(clear, [&] { return scored(visible_->clear); }, [&] { return scored(nest_.outputs[0].value); });
  }

  /// Stores the scores of a tile; returns the highest of each query.
  std::vector<Reg> keep_scores(const Queries& q, const Expr& wanted, AttentionPoint point, Reg first, const std::vector<Reg>& products,
                               std::vector<Reg> highest) {
    const Reg key = point[kKey];
    for (size_t r = 0; r < products.size() / q.lanes.size(); ++r) {
      scores_of_->enter_key();
      point[kKey] = build().add(key, number(static_cast<int64_t>(r)));
      const Reg line = build().mul(build().add(first, number(static_cast<int64_t>(r))), number(width(q)));
      for (size_t v = 0; v < q.lanes.size(); ++v) {
        const Reg product = products[r * q.lanes.size() + v];
        const Reg score = checked(scores_of_->value(wanted, point, v, product), product);
        build().store(scores_, build().add(line, number(static_cast<int64_t>(v) * lanes())), score);
        highest[v] = higher(highest[v], score);
      }
    }
    return highest;
  }

  Reg checked(Result<Reg> made, Reg otherwise) {
    if (made) return *made;
    status_ = std::unexpected(made.error());
    return otherwise;
  }

  /// Turns the block's scores into exp(score - maximum), and what was summed up before (where `joins`) to the new maximum.
  void normalise(const Queries& q, Reg joins, Reg count, const std::vector<Reg>& highest) {
    std::vector<Reg> shrinks, sums;
    for (int v = 0; v < q.vectors; ++v) {
      const Reg place = number(int64_t{v} * lanes());
      const Reg old = build().load(maxima_, place, lanes()), maximum = higher(old, highest[static_cast<size_t>(v)]);
      build().store(maxima_, place, maximum);
      const Reg base = base_of(maximum);
      shrinks.push_back(build().sub(old, base));
      // One vector after the other: the numbers of one exp fill the registers.
      sums.push_back(build().loop(number(0), count, number(1), {vector(0)}, [&](Reg k, const std::vector<Reg>& before) {
        const Reg score = at(place, k, width(q));
        const Reg weight = build().expr(ExprOp::exp, {build().sub(build().load(scores_, score, lanes()), base)});
        build().store(scores_, score, weight);
        return std::vector<Reg>{build().add(before[0], weight)};
      })[0]);
    }
    join(q, joins, shrinks, sums);
  }

  /// Puts the block's sums to those of the blocks before, if there were any; those shrink by e^shrinks.
  void join(const Queries& q, Reg joins, const std::vector<Reg>& shrinks, const std::vector<Reg>& sums) {
    const auto begin = [&] {
      for (int v = 0; v < q.vectors; ++v) build().store(totals_, number(int64_t{v} * lanes()), sums[static_cast<size_t>(v)]);
      return std::vector<Reg>{};
    };
    const auto go_on = [&] {
      for (int v = 0; v < q.vectors; ++v) {
        const Reg place = number(int64_t{v} * lanes()), shrink = build().expr(ExprOp::exp, {shrinks[static_cast<size_t>(v)]});
        build().store(factors_, place, shrink);
        build().store(totals_, place, build().fma(build().load(totals_, place, lanes()), shrink, sums[static_cast<size_t>(v)]));
      }
      build().loop(number(0), number(width(q)), number(1), [&](Reg r) {
        const Reg shrink = build().load(factors_, r, 1);
        for (int64_t v = 0; v < value_pad_; v += lanes()) {
          const Reg place = at(number(v), r, value_pad_);
          build().store(sums_, place, build().mul(build().load(sums_, place, lanes()), shrink));
        }
      });
      return std::vector<Reg>{};
    };
    build().branch(joins, go_on, begin);
  }

  Reg sums_of_slot(Reg slot) { return build().mul(slot, number(int64_t{tile_.vectors} * lanes() * value_pad_)); }
  /// Of maxima; as many totals follow.
  Reg weights_of_slot(Reg slot) { return build().mul(slot, number(int64_t{2} * tile_.vectors * lanes())); }

  void leave(const Queries& q) {
    const Reg sums = sums_of_slot(q.slot), weights = weights_of_slot(q.slot);
    build().loop(number(0), number(width(q) * value_pad_), number(lanes()),
                 [&](Reg i) { build().store(left_sums_, build().add(sums, i), build().load(sums_, i, lanes())); });
    for (int v = 0; v < q.vectors; ++v) {
      const Reg place = number(int64_t{v} * lanes()), maxima = build().add(weights, place);
      build().store(left_weights_, maxima, build().load(maxima_, place, lanes()));
      build().store(left_weights_, build().add(maxima, number(width(q))), build().load(totals_, place, lanes()));
    }
  }

  void join_parts(const Queries& q) {
    build().loop(number(0), emit_.dim(parts_.parts), number(1), [&](Reg part) {
      const Reg slot = build().add(build().mul(q.tile, emit_.dim(parts_.parts)), part);
      const Reg sums = sums_of_slot(slot), weights = weights_of_slot(slot);
      for (int v = 0; v < q.vectors; ++v) join_weights(number(int64_t{v} * lanes()), weights, width(q));
      build().loop(number(0), number(width(q)), number(1), [&](Reg r) {
        const Reg shrink = build().load(factors_, r, 1), of_part = build().splat(build().load(part_factors_, r, 1), lanes());
        for (int64_t v = 0; v < value_pad_; v += lanes()) {
          const Reg place = at(number(v), r, value_pad_);
          const Reg before = build().mul(build().load(sums_, place, lanes()), shrink);
          build().store(sums_, place, build().fma(build().load(left_sums_, build().add(sums, place), lanes()), of_part, before));
        }
      });
    });
  }

  /// Brings a vector of queries to the higher of two maxima, and tells the factors of what was summed up with either.
  void join_weights(Reg place, Reg weights, int64_t queries) {
    const Reg theirs = build().add(weights, place);
    const Reg old = build().load(maxima_, place, lanes()), found = build().load(left_weights_, theirs, lanes());
    const Reg maximum = higher(old, found), base = base_of(maximum);
    const auto factor = [&](Reg highest) { return build().expr(ExprOp::exp, {build().sub(highest, base)}); };
    const Reg shrink = factor(old), of_part = factor(found);
    const Reg total = build().load(left_weights_, build().add(theirs, number(queries)), lanes());
    build().store(maxima_, place, maximum);
    build().store(factors_, place, shrink);
    build().store(part_factors_, place, of_part);
    build().store(totals_, place, build().fma(total, of_part, build().mul(build().load(totals_, place, lanes()), shrink)));
  }

  /// A row without any key left subtracts 0, not -inf: its weights are 0 and its total stays 0.
  Reg base_of(Reg maximum) {
    const Reg none = build().expr(ExprOp::equal, {maximum, vector(-kInfinity)});
    return build().expr(ExprOp::select, {none, vector(0), maximum});
  }

  /// sums[queries][values] += weights times values, in balanced tiles of queries.
  void multiply_values(const Queries& q, Reg key, Reg count) {
    AttentionPoint point = q.head;
    point[kKey] = key;
    const Reg base = element_at(emit_, places_[2], point);
    const int64_t panel = int64_t{tile_.vectors} * lanes(), whole = value_ / panel * panel;
    build().loop(number(0), number(whole), number(panel), [&](Reg v) { panel_of_values(q, base, v, count, tile_.vectors); });
    if (whole < value_) panel_of_values(q, base, number(whole), count, static_cast<int>(ceil_div(value_ - whole, int64_t{lanes()})));
  }

  void panel_of_values(const Queries& q, Reg base, Reg v, Reg count, int vectors) {
    const int64_t tiles = ceil_div(width(q), int64_t{tile_.rows}), rows = width(q) / tiles, larger = width(q) % tiles * (rows + 1);
    const auto all = [&](int64_t from, int64_t to, int64_t step) {
      if (from == to) return;
      build().loop(number(from), build().min(number(to), q.valid), number(step),
                   [&](Reg r) { tile_of_values(q, base, r, v, count, static_cast<int>(step), vectors); });
    };
    all(0, larger, rows + 1);
    all(larger, width(q), rows);
  }

  void tile_of_values(const Queries& q, Reg base, Reg r, Reg v, Reg count, int rows, int vectors) {
    Contract c;
    c.rows = rows;
    c.vectors = vectors;
    c.lanes = lanes();
    c.a = scores_;
    c.b = operands_[2];
    c.a_offset = r;
    c.a_row = number(1);
    c.a_k = number(width(q));
    c.b_offset = build().add(base, v);
    c.b_k = emit_.dim(places_[2].coefficients[kKey]);
    c.depth = count;
    const Reg first = at(v, r, value_pad_);
    const auto place = [&](int row, int x) { return build().add(first, number(row * value_pad_ + int64_t{x} * lanes())); };
    for (int row = 0; row < rows; ++row)
      for (int x = 0; x < vectors; ++x) c.accumulators_in.push_back(build().load(sums_, place(row, x), lanes()));
    const auto sums = build().contract(std::move(c));
    for (int row = 0; row < rows; ++row)
      for (int x = 0; x < vectors; ++x) build().store(sums_, place(row, x), sums[static_cast<size_t>(row) * vectors + x]);
  }

  void finish(const Queries& q) {
    build().loop(number(0), q.valid, number(1), [&](Reg r) {
      AttentionPoint point = q.head;
      point[kQuery] = build().add(q.first, r);
      const Reg to = element_at(emit_, result_, point);
      // A row that may see no key at all is 0/0; divided by 1 its weights are 0.
      const Reg weights = build().load(totals_, r, 1);
      const bool divides = masked_rows_ == ops::MaskedRows::nan;
      const Reg total =
          divides ? weights : build().expr(ExprOp::select, {build().expr(ExprOp::equal, {weights, real(0)}), real(1), weights});
      // A score that no softmax takes (NaN, infinity) has made the total NaN: a row that is to be clean is 0 then.
      const Reg is_number = build().expr(ExprOp::equal, {weights, weights});
      const auto cleaned = [&](Reg x) {
        if (masked_rows_ != ops::MaskedRows::clean) return x;
        return build().expr(ExprOp::select, {build().splat(is_number, lanes()), x, vector(0)});
      };
      const Dim step = result_.coefficients[kValueSize];
      for (int64_t v = 0; v < value_; v += lanes()) {
        Memory how;
        if (value_ - v < lanes()) how.mask = build().first_mask(number(value_ - v), lanes());
        if (!(step == Dim(1))) how.stride = emit_.dim(step);
        const Reg sum = build().load(sums_, at(number(v), r, value_pad_), lanes());
        build().store(out_, emit_.add_scaled(to, step, number(v)), cleaned(build().expr(ExprOp::div, {sum, build().splat(total, lanes())})),
                      how);
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
  const std::optional<Dim> longest_;  ///< of packed sequences
  const KeyParts parts_;
  const bool joins_;
  const std::optional<VisibleKeys> visible_;
  Affine places_[3], result_;  ///< of query, key and value; of the result
  int32_t operands_[3] = {}, starts_[2] = {}, out_ = -1;
  std::optional<AttentionScores> scores_of_;
  int32_t scaled_query_ = -1, scores_ = -1, sums_ = -1, maxima_ = -1, totals_ = -1, factors_ = -1, part_factors_ = -1;
  int32_t left_sums_ = -1, left_weights_ = -1;  ///< of parts
  int64_t head_ = 0, value_ = 0, value_pad_ = 0, block_ = 0;
  Dim blocks_ = 0;  ///< tasks of a head
  Result<void> status_;
};

}  // namespace

Result<void> emit_attention(Kernel& kernel, Plan& plan, const Target& target, const Tactic& tactic, const Nest& nest, const Group& group,
                            const KeyParts& parts) {
  return AttentionLowering(kernel, plan, target, tactic, nest, group, parts, false).run();
}

Result<void> emit_join_of_parts(Kernel& kernel, Plan& plan, const Target& target, const Tactic& tactic, const Nest& nest,
                                const Group& group, const KeyParts& parts) {
  return AttentionLowering(kernel, plan, target, tactic, nest, group, parts, true).run();
}

}  // namespace tenon::codegen
