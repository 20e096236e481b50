// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_widening.h"

namespace tenon::codegen {

void widen(AttentionCode& code, const QueryTile& q, int operand, Reg key, Reg count) {
  TileBuilder& build = code.build();
  const int64_t size = operand == 1 ? code.head_size : code.value_size;
  const Dim step = code.places[operand].coefficients[operand == 1 ? kHeadSize : kValueSize];
  build.loop(code.number(0), count, code.number(1), [&](Reg k) {
    AttentionPoint point = q.head;
    point[kKey] = build.add(key, k);
    const Reg from = element_at(code.emit, code.places[operand], point), to = build.mul(k, code.number(code.wide_row(operand)));
    build.loop(code.number(0), code.number(size), code.number(code.lanes()), [&](Reg d) {
      MemoryOptions how;
      if (size % code.lanes() != 0) how.mask = build.first_mask(build.sub(code.number(size), d), code.lanes());
      if (!(step == Dim(1))) how.stride = code.emit.dim(step);
      build.store(code.wide[operand], build.add(to, d), code.load_wide(operand, code.emit.add_scaled(from, step, d), how));
    });
  });
}

}  // namespace tenon::codegen
