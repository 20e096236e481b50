// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_results.h"

namespace tenon::codegen {

namespace {

/// One query, from `to` on. `total` is what its sums are divided by, `is_number` whether its weights add up to one.
void write_row(AttentionCode& code, Reg r, Reg to, Reg total, Reg is_number, bool cleans) {
  TileBuilder& build = code.build();
  const auto cleaned = [&](Reg x) {
    return cleans ? build.expr(ExprOp::select, {build.splat(is_number, code.lanes()), x, code.vector(0)}) : x;
  };
  const Dim step = code.result.coefficients[kValueSize];
  for (int64_t v = 0; v < code.value; v += code.lanes()) {
    MemoryOptions how;
    if (code.value - v < code.lanes()) how.mask = build.first_mask(code.number(code.value - v), code.lanes());
    if (!(step == Dim(1))) how.stride = code.emit.dim(step);
    const Reg sum = code.load(code.sums, code.at(code.number(v), r, code.value_pad));
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
    // A row that may see no key at all is 0/0; divided by 1 its weights are 0.
    const bool divides = masked_rows == ops::MaskedRows::nan;
    const Reg total =
        divides ? weights : build.expr(ExprOp::select, {build.expr(ExprOp::equal, {weights, code.real(0)}), code.real(1), weights});
    // A score that no softmax takes (NaN, infinity) has made the total NaN: a row that is to be clean is 0 then.
    const Reg is_number = build.expr(ExprOp::equal, {weights, weights});
    write_row(code, r, to, total, is_number, masked_rows == ops::MaskedRows::clean);
  });
}

}  // namespace tenon::codegen
