// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/few_queries.h"

#include "base/checked.h"
#include "codegen/lower/attention/attention_softmax.h"
#include "codegen/lower/attention/few_queries_tasks.h"

namespace tenon::codegen {

namespace {

/// A task: one range of the keys of one query, for the heads of a tile.
struct RangeOfKeys {
  std::vector<AttentionPoint> rows;  ///< batch, heads and query of each row
  AttentionPoint head;               ///< batch and key head
  Reg slot = kNone;                  ///< number of the task
  Reg first_key = kNone, end_of_keys = kNone;
  Reg count = kNone;  ///< of keys
};

/// Keys lie along the lanes: panels of keys are transposed in registers, and the rows of a tile are the queries of the heads that share the
/// keys. Each score is one chain over the head size, each sum one chain over the keys of the range, as in the form for many queries.
class FewQueriesLowering {
 public:
  FewQueriesLowering(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                     const Group& group, const FewQueries& few)
      : kernel_(kernel),
        code_(kernel, plan, target, tactic, nest, group, {}, AttentionForm::few_queries, few),
        few_(few),
        scale_(group.as<AttentionGroup>().scale),
        grain_(tactic.grain) {}

  Result<void> run() {
    kernel_.tasks = few_.tasks();
    kernel_.grain = Dim(std::max<int64_t>(1, grain_ / (kKeysOfARange * few_.rows * 2 * (code_.head_size + code_.value_size))));
    build().loop(build().task_begin(), build().task_end(), code_.number(1), [&](Reg t) { task(t); });
    TRY(std::move(code_.status));
    code_.emit.finish();
    return {};
  }

 private:
  TileBuilder& build() { return code_.build(); }
  int64_t padded_head_size() const { return round_up(code_.head_size, int64_t{code_.emit.lanes()}); }

  void task(Reg t) {
    RangeOfKeys k;
    k.slot = t;
    TaskNumber number(code_, t);
    const Reg range = number.take(few_.ranges), query = number.take(code_.extent(kQuery)), chunk = number.take(Dim(few_.chunks));
    k.head.fill(kNone);
    k.head[kQuery] = query;
    k.head[kKeyHead] = number.take(code_.extent(kKeyHead));
    k.head[kBatch] = number.rest();
    const Reg first = build().mul(chunk, code_.number(few_.rows));
    for (int r = 0; r < few_.rows; ++r) {
      k.rows.push_back(k.head);
      k.rows.back()[kSharing] = build().min(build().add(first, code_.number(r)), code_.number(few_.heads - 1));
    }
    const auto [visible_from, visible_to_here] = read_key_range(code_, query, k.head);
    const Reg size = code_.number(kKeysOfARange), start = build().mul(range, size);
    k.end_of_keys = build().min(build().add(start, size), visible_to_here);
    // A loop with one iteration, or with none where no key of the range is visible.
    build().loop(build().expr(ExprOp::max, {start, visible_from}), k.end_of_keys, size, [&](Reg key) {
      k.first_key = key;
      k.count = build().sub(k.end_of_keys, key);
      attend(k);
    });
  }

  void attend(const RangeOfKeys& k) {
    load_queries(k);
    store_weights(k, multiply_keys(k));
    multiply_values(k);
  }

  /// Offset of row r of a scratch array whose rows have `size` elements.
  Reg row_of(int64_t r, int64_t size) { return code_.number(r * size); }

  /// Options of a load of a register of elements of a query or key, from element `d` on.
  MemoryOptions along_head(int operand, Reg d) {
    MemoryOptions how;
    const Dim step = code_.places[operand].coefficients[kHeadSize];
    if (code_.head_size % code_.lanes() != 0) how.mask = build().first_mask(build().sub(code_.number(code_.head_size), d), code_.lanes());
    if (!(step == Dim(1))) how.stride = code_.emit.dim(step);
    return how;
  }

  void load_queries(const RangeOfKeys& k) {
    const Dim step = code_.places[0].coefficients[kHeadSize];
    for (int r = 0; r < few_.rows; ++r) {
      const Reg from = element_at(code_.emit, code_.places[0], k.rows[static_cast<size_t>(r)]);
      build().loop(code_.number(0), code_.number(code_.head_size), code_.number(code_.lanes()), [&](Reg d) {
        const Reg query = build().load(code_.operands[0], code_.emit.add_scaled(from, step, d), code_.lanes(), along_head(0, d));
        build().store(code_.scaled_query, build().add(row_of(r, padded_head_size()), d), build().mul(query, code_.vector(scale_)));
      });
    }
  }

  /// A panel of keys, from number `from` of the range on, to [head size][keys]. Keys beyond the last one repeat it.
  void transpose_keys(const RangeOfKeys& k, Reg from) {
    const int64_t panel = int64_t{code_.vectors_of_panel} * code_.lanes();
    const Reg last = build().sub(k.end_of_keys, code_.number(1));
    const Dim step = code_.places[1].coefficients[kHeadSize], key_step = code_.places[1].coefficients[kKey];
    const Reg head = element_at(code_.emit, code_.places[1], k.head);
    build().loop(code_.number(0), code_.number(panel), code_.number(code_.lanes()), [&](Reg j) {
      const Reg first = build().add(k.first_key, build().add(from, j));
      std::vector<Reg> starts;
      for (int i = 0; i < code_.lanes(); ++i)
        starts.push_back(code_.emit.add_scaled(head, key_step, build().min(build().add(first, code_.number(i)), last)));
      build().loop(code_.number(0), code_.number(code_.head_size), code_.number(code_.lanes()), [&](Reg d) {
        const MemoryOptions how = along_head(1, d);
        std::vector<Reg> keys;
        for (Reg start : starts) keys.push_back(code_.load_wide(1, code_.emit.add_scaled(start, step, d), how));
        const std::vector<Reg> columns = build().transpose(std::move(keys));
        const Reg to = code_.at(j, d, panel);
        for (int i = 0; i < code_.lanes(); ++i)
          build().store(code_.panel_of_keys, build().add(to, code_.number(i * panel)), columns[static_cast<size_t>(i)]);
      });
    });
  }

  std::vector<Reg> products_of_panel() {
    Contract c;
    c.rows = few_.rows;
    c.vectors = code_.vectors_of_panel;
    c.lanes = code_.lanes();
    c.a = code_.scaled_query;
    c.b = code_.panel_of_keys;
    c.a_row_stride = code_.number(padded_head_size());
    c.depth = code_.number(code_.head_size);
    return build().contract(std::move(c));
  }

  QueryLanes lanes_of(const RangeOfKeys& k, Reg from) {
    const Reg last = build().sub(k.end_of_keys, code_.number(1));
    QueryLanes l;
    l.first = build().min(build().add(k.first_key, from), last);
    l.all = build().min(build().add(build().splat(l.first, code_.lanes()), code_.emit.iota()), build().splat(last, code_.lanes()));
    l.inside = build().first_mask(build().sub(k.count, from), code_.lanes());
    return l;
  }

  /// Stores the scores of all keys; returns for each row the highest score in each lane.
  std::vector<Reg> multiply_keys(const RangeOfKeys& k) {
    const Expr& score_expr = skips_hidden_keys(code_) ? code_.visible->visible_score : code_.nest.outputs[0].value;
    const int vectors = code_.vectors_of_panel;
    const std::vector<Reg> lowest(static_cast<size_t>(few_.rows), code_.vector(-kInfinity));
    const Reg panel = code_.number(int64_t{vectors} * code_.lanes());
    return build().loop(code_.number(0), k.count, panel, lowest, [&](Reg from, std::vector<Reg> highest) {
      transpose_keys(k, from);
      const std::vector<Reg> products = products_of_panel();
      for (int v = 0; v < vectors; ++v) {
        const Reg at = build().add(from, code_.place_of(v));
        const QueryLanes lanes = lanes_of(k, at);
        for (size_t r = 0; r < highest.size(); ++r) {
          const Reg score = score_of(score_expr, k.rows[r], lanes, products[r * static_cast<size_t>(vectors) + static_cast<size_t>(v)]);
          build().store(code_.scores, build().add(row_of(static_cast<int64_t>(r), code_.scores_of_a_row), at), score);
          highest[r] = higher(code_, highest[r], score);
        }
      }
      return highest;
    });
  }

  /// -inf in lanes without a key.
  Reg score_of(const Expr& score_expr, const AttentionPoint& point, const QueryLanes& keys, Reg product) {
    auto made = code_.scores_of->value_of_keys(score_expr, point, keys, product);
    if (!made) code_.status = std::unexpected(made.error());
    return build().expr(ExprOp::select, {keys.inside, made ? *made : product, code_.vector(-kInfinity)});
  }

  /// Replaces scores by exp(score - maximum), and adds them up in the order of the keys.
  void store_weights(const RangeOfKeys& k, const std::vector<Reg>& highest) {
    const auto rows = static_cast<int64_t>(highest.size());
    const Reg weights = build().mul(k.slot, code_.number(2 * rows));
    std::vector<Reg> bases;
    for (int64_t r = 0; r < rows; ++r) {
      const Reg maximum = build().reduce(highest[static_cast<size_t>(r)], ops::Combine::max);
      build().store(code_.part_weights, build().add(weights, code_.number(r)), maximum);
      bases.push_back(base_of(code_, build().splat(maximum, code_.lanes())));
    }
    const std::vector<Reg> none(highest.size(), code_.real(0));
    const std::vector<Reg> totals =
        build().loop(code_.number(0), k.count, code_.number(code_.lanes()), none, [&](Reg at, std::vector<Reg> sums) {
          for (int64_t r = 0; r < rows; ++r) {
            const Reg place = build().add(row_of(r, code_.scores_of_a_row), at);
            const Reg shifted = build().sub(code_.load(code_.scores, place), bases[static_cast<size_t>(r)]);
            build().store(code_.scores, place, build().expr(ExprOp::exp, {shifted}));
          }
          // Lanes without a key add 0.
          for (int i = 0; i < code_.lanes(); ++i)
            for (int64_t r = 0; r < rows; ++r) {
              const Reg place = build().add(at, code_.number(r * code_.scores_of_a_row + i));
              sums[static_cast<size_t>(r)] = build().add(sums[static_cast<size_t>(r)], build().load(code_.scores, place, 1));
            }
          return sums;
        });
    for (int64_t r = 0; r < rows; ++r)
      build().store(code_.part_weights, build().add(weights, code_.number(rows + r)), totals[static_cast<size_t>(r)]);
  }

  /// Multiplies the weights of each key by the scale of its value.
  void scale_weights(const RangeOfKeys& k) {
    const Expr scale = Expr::input(code_.value_scale, DType::f32);
    build().loop(code_.number(0), k.count, code_.number(code_.lanes()), [&](Reg at) {
      const QueryLanes lanes = lanes_of(k, at);
      auto loaded = code_.scores_of->value_of_keys(scale, k.head, lanes, kNone);
      if (!loaded) code_.status = std::unexpected(loaded.error());
      for (int r = 0; r < few_.rows; ++r) {
        const Reg weight = build().add(row_of(r, code_.scores_of_a_row), at);
        build().store(code_.scores, weight, build().mul(code_.load(code_.scores, weight), loaded ? *loaded : code_.vector(1)));
      }
    });
  }

  void multiply_values(const RangeOfKeys& k) {
    if (code_.value_scale >= 0) scale_weights(k);
    AttentionPoint point = k.head;
    point[kKey] = k.first_key;
    const Reg base = element_at(code_.emit, code_.places[2], point);
    const int64_t lanes = code_.lanes(), most = vectors_for(few_.rows, code_.emit.target()) * lanes;
    for (int64_t v = 0; v < code_.padded_value_size; v += most)
      panel_of_values(k, build().add(base, code_.number(v)), v, static_cast<int>(std::min(most, code_.padded_value_size - v) / lanes));
  }

  void panel_of_values(const RangeOfKeys& k, Reg from, int64_t first, int vectors) {
    Contract c;
    c.rows = few_.rows;
    c.vectors = vectors;
    c.lanes = code_.lanes();
    c.a = code_.scores;
    c.b = code_.operands[2];
    c.a_row_stride = code_.number(code_.scores_of_a_row);
    c.b_offset = from;
    c.b_k_stride = code_.emit.dim(code_.places[2].coefficients[kKey]);
    c.depth = k.count;
    const auto sums = build().contract(std::move(c));
    const Reg to = code_.at(code_.number(first), k.slot, few_.rows * code_.padded_value_size);
    for (int r = 0; r < few_.rows; ++r)
      for (int x = 0; x < vectors; ++x)
        build().store(code_.part_sums, build().add(to, code_.number(r * code_.padded_value_size + int64_t{x} * code_.lanes())),
                      sums[static_cast<size_t>(r) * static_cast<size_t>(vectors) + static_cast<size_t>(x)]);
  }

  Kernel& kernel_;
  AttentionCode code_;
  const FewQueries& few_;
  const double scale_;
  const int64_t grain_;
};

}  // namespace

Result<void> emit_few_queries(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                              const Group& group, const FewQueries& few) {
  return FewQueriesLowering(kernel, plan, target, tactic, nest, group, few).run();
}

}  // namespace tenon::codegen
