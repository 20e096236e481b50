// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_kernel.h"

#include <tuple>

#include "codegen/lower/attention/attention_join.h"
#include "codegen/lower/attention/attention_key_product.h"
#include "codegen/lower/attention/attention_queries.h"
#include "codegen/lower/attention/attention_results.h"
#include "codegen/lower/attention/attention_softmax.h"
#include "codegen/lower/attention/attention_value_product.h"

namespace tenon::codegen {

namespace {

/// One task: a tile of queries of one head, which lie along the lanes. Keys and values are read where they are, one key a row of the
/// register tile, so that a softmax needs no sum over lanes and a mask of keys is one number for all queries. Keys are processed in blocks,
/// whose scores are in scratch memory. With several blocks, each query keeps its running maximum m, sum l and weighted values o, rescaled
/// from block to block (online softmax, Milakov and Gimelshein, arXiv 1805.02867).
class AttentionLowering {
 public:
  /// joins: this is the second kernel, which adds up the results of parts.
  AttentionLowering(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                    const Group& group, const KeyParts& parts, bool joins)
      : kernel_(kernel),
        code_(kernel, plan, target, tactic, nest, group, parts, joins ? AttentionForm::join : AttentionForm::queries),
        group_(group),
        tactic_(tactic),
        joins_(joins) {}

  Result<void> run() {
    const Dim queries = code_.tile.vectors * code_.lanes();
    const std::optional<Dim>& longest = group_.as<AttentionGroup>().longest_sequence;
    blocks_ = longest ? max(Dim(1), ceil_div(*longest, queries)) : ceil_div(code_.extent(kQuery), queries);
    kernel_.tasks = joins_ ? code_.parts.join_tasks() : code_.parts.tiles * code_.parts.parts;
    kernel_.grain = max(Dim(1), floor_div(Dim(tactic_.grain), max(Dim(1), work_of_task(queries))));
    build().loop(build().task_begin(), build().task_end(), code_.number(1), [&](Reg t) { task(t); });
    TRY(std::move(code_.status));
    code_.emit.finish();
    return {};
  }

 private:
  TileBuilder& build() { return code_.build(); }

  Dim work_of_task(Dim queries) const {
    if (joins_) return code_.parts.parts * queries * Dim(2 * code_.value_size);
    const Dim keys = code_.extent(kKey),
              of_one = group_.as<AttentionGroup>().longest_sequence ? floor_div(keys, max(Dim(1), code_.extent(kBatch))) : keys;
    return floor_div(of_one, code_.parts.parts) * queries * Dim(2 * (code_.head_size + code_.value_size));
  }

  void task(Reg t) {
    const auto take = [&](Dim n) {
      const Reg r = build().expr(ExprOp::rem, {t, code_.emit.dim(n)});
      t = build().expr(ExprOp::div, {t, code_.emit.dim(n)});
      return r;
    };
    QueryTile q;
    q.head.fill(kNone);
    q.vectors = code_.tile.vectors;
    q.slot = t;
    const Reg part = code_.parts.several() && !joins_ ? take(code_.parts.parts) : kNone;
    q.tile = t;
    const Reg block = take(blocks_);
    q.first = build().mul(block, code_.number(code_.width(q)));
    q.head[kSharing] = take(code_.extent(kSharing));
    q.head[kKeyHead] = take(code_.extent(kKeyHead));
    q.head[kBatch] = t;
    if (group_.as<AttentionGroup>().longest_sequence) return sequence(q, block);
    q.end = code_.emit.dim(code_.extent(kQuery));
    const auto start_of = [&](Reg p) {
      return build().expr(ExprOp::div, {build().mul(p, code_.emit.dim(code_.extent(kKey))), code_.emit.dim(code_.parts.parts)});
    };
    q.first_key = part == kNone ? code_.number(0) : start_of(part);
    q.end_of_keys = part == kNone ? code_.emit.dim(code_.extent(kKey)) : start_of(build().add(part, code_.number(1)));
    tile(q);
  }

  /// First row of the task's sequence, and one past its last row. side: 0: queries, 1: keys. Clamped to `rows`, the rows of the array.
  std::pair<Reg, Reg> rows_of(const QueryTile& q, size_t side, Reg rows) {
    const auto clamped = [&](Reg at, Reg least) { return build().expr(ExprOp::max, {build().min(at, rows), least}); };
    const Reg begin = clamped(build().load(code_.starts[side], q.head[kBatch], 1), code_.number(0));
    return {begin, clamped(build().load(code_.starts[side], build().add(q.head[kBatch], code_.number(1)), 1), begin)};
  }

  /// Block number `block` of the queries of a packed sequence; nothing where the sequence is shorter. The last block takes all remaining
  /// queries.
  void sequence(QueryTile q, Reg block) {
    const auto [begin, end] = rows_of(q, 0, code_.emit.dim(code_.extent(kQuery)));
    std::tie(q.first_key, q.end_of_keys) = rows_of(q, 1, code_.emit.dim(code_.extent(kKey)));
    q.end = end;
    const Reg from = build().add(begin, q.first), next = build().min(end, build().add(from, code_.number(code_.width(q))));
    const Reg is_last = build().expr(ExprOp::equal, {block, build().sub(code_.emit.dim(blocks_), code_.number(1))});
    build().loop(from, build().expr(ExprOp::select, {is_last, end, next}), code_.number(code_.width(q)), [&](Reg first) {
      q.first = first;
      tile(q);
    });
  }

  void tile(QueryTile q) {
    q.valid = build().min(code_.number(code_.width(q)), build().sub(q.end, q.first));
    if (code_.tile.vectors == 1) return attend(q);
    QueryTile few = q;
    few.vectors = 1;
    const auto run = [&](const QueryTile& some) {
      attend(some);
      return std::vector<Reg>{};
    };
    build().branch(
        build().expr(ExprOp::less_equal, {q.valid, code_.number(code_.lanes())}), [&] { return run(few); }, [&] { return run(q); });
  }

  void attend(QueryTile q) {
    begin_softmax(code_, q);
    if (joins_) {
      merge_parts(code_, q);
      return write_results(code_, q, group_.as<AttentionGroup>().masked_rows);
    }
    prepare_queries(code_, q, group_.as<AttentionGroup>().scale);
    if (code_.visible) {
      const Reg last = build().sub(build().add(q.first, q.valid), code_.number(1));
      q.keys = code_.visible_key_range(q.first, last, q.head);
    }
    const auto whole = [&] {
      if (code_.in_order) attend_in_order(q);
      else code_.visible ? attend_visible(q, q.end_of_keys) : attend_to(q, q.first_key, q.end_of_keys, q.first_key);
      write_results(code_, q, group_.as<AttentionGroup>().masked_rows);
      return std::vector<Reg>{};
    };
    const auto in_part = [&] {
      attend_to(q, q.first_key, q.end_of_keys, q.first_key);
      store_part(code_, q);
      return std::vector<Reg>{};
    };
    if (!code_.parts.several()) return void(whole());
    if (code_.parts.parts.is_number()) return void(in_part());
    build().branch(build().expr(ExprOp::equal, {code_.emit.dim(code_.parts.parts), code_.number(1)}), whole, in_part);
  }

  void attend_to(const QueryTile& q, Reg from, Reg to, Reg very_first) {
    build().loop(from, to, code_.number(tactic_.block), [&](Reg key) {
      const Reg here = build().min(build().sub(to, key), code_.number(tactic_.block));
      normalise(code_, q, build().expr(ExprOp::logical_not, {build().expr(ExprOp::equal, {key, very_first})}), here,
                multiply_keys(code_, q, key, here));
      multiply_values(code_, q, key, here);
    });
  }

  /// Attends to the keys that are visible to some query of the tile; then to those before and after, where a query has no visible key: its
  /// weight is then shared by the hidden keys.
  void attend_visible(const QueryTile& q, Reg keys) {
    build().loop(code_.number(0), code_.number(3), code_.number(1), [&](Reg part) {
      const auto is = [&](int64_t n) { return build().expr(ExprOp::equal, {part, code_.number(n)}); };
      const auto of_part = [&](Reg visible, Reg before, Reg after) {
        return build().expr(ExprOp::select, {is(0), visible, build().expr(ExprOp::select, {is(1), before, after})});
      };
      const Reg from = of_part(q.keys.begin, code_.number(0), q.keys.end), to = of_part(q.keys.end, q.keys.begin, keys);
      const Reg wanted = build().expr(ExprOp::logical_or, {is(0), has_no_visible_key(code_, q)});
      attend_to(q, from, build().expr(ExprOp::select, {wanted, to, from}), build().expr(ExprOp::select, {is(0), from, code_.number(-1)}));
    });
  }

  /// Sums keys in ranges that begin at multiples of kKeysOfARange, so that no sum depends on the other queries of the tile.
  void attend_in_order(const QueryTile& q) {
    const Reg none = code_.number(0), all = q.end_of_keys;
    if (!code_.visible) return add_ranges(q, q.first_key, q.first_key, all);
    if (code_.visible->hidden_score == -kInfinity) return add_ranges(q, start_of_range(q.keys.begin), q.keys.begin, q.keys.end);
    // The weight of a query without a visible key is shared by the hidden keys: then a second attempt takes all keys.
    build().loop(code_.number(0), code_.number(2), code_.number(1), [&](Reg attempt) {
      const Reg first = build().expr(ExprOp::equal, {attempt, none});
      const auto of = [&](Reg visible, Reg whole) { return build().expr(ExprOp::select, {first, visible, whole}); };
      const Reg from = of(q.keys.begin, none), wanted = build().expr(ExprOp::logical_or, {first, has_no_visible_key(code_, q)});
      const auto begin = [&] {
        begin_softmax(code_, q);
        return std::vector<Reg>{};
      };
      build().branch(wanted, begin, [] { return std::vector<Reg>{}; });
      add_ranges(q, start_of_range(from), from, build().expr(ExprOp::select, {wanted, of(q.keys.end, all), from}));
    });
  }

  Reg start_of_range(Reg key) {
    const Reg size = code_.number(kKeysOfARange);
    return build().mul(build().expr(ExprOp::div, {key, size}), size);
  }

  /// Keys [from, to), in ranges of which the first one begins at `first_range`.
  void add_ranges(const QueryTile& q, Reg first_range, Reg from, Reg to) {
    const Reg step = code_.number(kKeysOfARange);
    build().loop(first_range, to, step, [&](Reg start) {
      const Reg key = build().expr(ExprOp::max, {start, from}), count = build().sub(build().min(build().add(start, step), to), key);
      add_weights_of_range(code_, q, count, multiply_keys(code_, q, key, count));
      multiply_values(code_, q, key, count);
    });
  }

  Kernel& kernel_;
  AttentionCode code_;
  const Group& group_;
  const AttentionTactic& tactic_;
  const bool joins_;
  Dim blocks_ = 0;  ///< tiles of queries of a head
};

}  // namespace

Result<void> emit_attention(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                            const Group& group, const KeyParts& parts) {
  return AttentionLowering(kernel, plan, target, tactic, nest, group, parts, false).run();
}

Result<void> emit_merge_of_parts(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                                 const Group& group, const KeyParts& parts) {
  return AttentionLowering(kernel, plan, target, tactic, nest, group, parts, true).run();
}

}  // namespace tenon::codegen
