// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_results.h"

namespace tenon::codegen {

namespace {

/// Writes the result of query r of the tile, from element `to` on: its sums divided by `total`. cleans: where `is_number` is false (the
/// total is NaN), 0 is written.
void write_row(AttentionCode& code, Reg r, Reg to, Reg total, Reg is_number, bool cleans) {
  TileBuilder& build = code.build();
  const auto cleaned = [&](Reg x) {
    return cleans ? build.expr(ExprOp::select, {build.splat(is_number, code.lanes()), x, code.vector(0)}) : x;
  };
  const Dim step = code.result.coefficients[kValueSize];
  for (int64_t v = 0; v < code.value_size; v += code.lanes()) {
    MemoryOptions how;
    if (code.value_size - v < code.lanes()) how.mask = build.first_mask(code.number(code.value_size - v), code.lanes());
    if (!(step == Dim(1))) how.stride = code.emit.dim(step);
    const Reg sum = code.load(code.sums, code.at(code.number(v), r, code.padded_value_size));
    const Reg place = code.emit.add_scaled(to, step, code.number(v));
    build.store(code.out, place, cleaned(build.expr(ExprOp::div, {sum, build.splat(total, code.lanes())})), how);
  }
}

}  // namespace

void write_results(AttentionCode& code, const QueryTile& q, ops::MaskedRows masked_rows) {
  TileBuilder& build = code.build();
  build.loop(code.number(0), q.valid, code.number(1), [&](Reg r) {
    AttentionPoint point = q.head;
    point[kQuery] = build.add(q.first, r);
    const Reg to = element_at(code.emit, code.result, point);
    const Reg weights = build.load(code.totals, r, 1);
    // A query whose keys are all masked has sums and total 0: a total of 1 makes its result 0 in place of 0/0.
    const bool divides = masked_rows == ops::MaskedRows::nan;
    const Reg total =
        divides ? weights : build.expr(ExprOp::select, {build.expr(ExprOp::equal, {weights, code.real(0)}), code.real(1), weights});
    // A score that is NaN or infinite makes the total NaN: with MaskedRows::clean, the result is 0 then.
    const Reg is_number = build.expr(ExprOp::equal, {weights, weights});
    write_row(code, r, to, total, is_number, masked_rows == ops::MaskedRows::clean);
  });
}

}  // namespace tenon::codegen
