// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/few_queries_join.h"

#include "codegen/lower/attention/attention_results.h"
#include "codegen/lower/attention/attention_softmax.h"
#include "codegen/lower/attention/few_queries_tasks.h"

namespace tenon::codegen {

namespace {

/// Maxima and totals are vectors with one number in all lanes: then each operation is the one that a vector of queries takes, with equal
/// bits.
class JoinOfRanges {
 public:
  JoinOfRanges(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest, const Group& group,
               const FewQueries& few)
      : kernel_(kernel),
        code_(kernel, plan, target, tactic, nest, group, {}, AttentionForm::join_few, few),
        few_(few),
        group_(group),
        grain_(tactic.grain) {}

  Result<void> run() {
    kernel_.tasks = few_.results;
    kernel_.grain = max(Dim(1), floor_div(Dim(grain_), max(Dim(1), few_.ranges) * Dim(2 * code_.padded_value_size)));
    build().loop(build().task_begin(), build().task_end(), code_.number(1), [&](Reg t) { task(t); });
    TRY(std::move(code_.status));
    code_.emit.finish();
    return {};
  }

 private:
  TileBuilder& build() { return code_.build(); }

  void task(Reg t) {
    TaskNumber number(code_, t);
    QueryTile q;
    q.head.fill(kNone);
    q.vectors = 1;
    q.valid = code_.number(1);
    q.first = number.take(code_.extent(kQuery));
    const Reg head = number.take(Dim(few_.heads)), rows = code_.number(few_.rows);
    const Reg heads_before = number.rest();
    q.head[kSharing] = head;
    q.head[kKeyHead] = number.take(code_.extent(kKeyHead));
    q.head[kBatch] = number.rest();
    const Reg chunk = build().add(build().mul(heads_before, code_.number(few_.chunks)), build().expr(ExprOp::div, {head, rows}));
    const Reg tile = build().add(build().mul(chunk, code_.emit.dim(code_.extent(kQuery))), q.first);
    clear();
    const auto [from, to] = read_key_range(code_, q.first, q.head);
    const Reg step = code_.number(kKeysOfARange), first_slot = build().mul(tile, code_.emit.dim(few_.ranges));
    const Reg begin = build().expr(ExprOp::div, {from, step});
    const Reg end = build().expr(ExprOp::div, {build().add(to, code_.number(kKeysOfARange - 1)), step});
    // Where no key is visible, no range was written.
    build().loop(begin, build().expr(ExprOp::select, {build().expr(ExprOp::less, {from, to}), end, begin}), code_.number(1),
                 [&](Reg range) { add(build().add(first_slot, range), build().expr(ExprOp::rem, {head, rows})); });
    write_results(code_, q, group_.as<AttentionGroup>().masked_rows);
  }

  void clear() {
    build().store(code_.maxima, code_.number(0), code_.vector(-kInfinity));
    build().store(code_.totals, code_.number(0), code_.vector(0));
    build().loop(code_.number(0), code_.number(code_.padded_value_size), code_.number(code_.lanes()),
                 [&](Reg v) { build().store(code_.sums, v, code_.vector(0)); });
  }

  /// Adds range `slot` of the parts, of which it reads row `row`.
  void add(Reg slot, Reg row) {
    const int64_t rows = few_.rows, lanes = code_.lanes();
    const Reg place = code_.number(0), weights = code_.at(row, slot, 2 * rows);
    const auto same = [&](int32_t buffer, Reg at) { return build().load(buffer, at, code_.lanes(), {.broadcast = true}); };
    merge_weights(code_, place, code_.load(code_.maxima, place), same(code_.part_weights, weights),
                  [&] { return same(code_.part_weights, build().add(weights, code_.number(rows))); });
    const Reg rescale = code_.load(code_.factors, place), of_range = code_.load(code_.part_factors, place);
    const Reg part_offset = build().mul(code_.at(row, slot, rows), code_.number(code_.padded_value_size));
    build().loop(code_.number(0), code_.number(code_.padded_value_size), code_.number(lanes), [&](Reg v) {
      const Reg before = build().mul(code_.load(code_.sums, v), rescale);
      build().store(code_.sums, v, build().fma(code_.load(code_.part_sums, build().add(part_offset, v)), of_range, before));
    });
  }

  Kernel& kernel_;
  AttentionCode code_;
  const FewQueries& few_;
  const Group& group_;
  const int64_t grain_;
};

}  // namespace

Result<void> emit_join_of_ranges(Kernel& kernel, const Plan& plan, const Target& target, const AttentionTactic& tactic, const Nest& nest,
                                 const Group& group, const FewQueries& few) {
  return JoinOfRanges(kernel, plan, target, tactic, nest, group, few).run();
}

}  // namespace tenon::codegen
