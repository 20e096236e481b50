// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/attention_keys.h"

namespace tenon::codegen {

KeyRange key_range(KernelEmitter& emit, const VisibleKeys& visible, Reg first, Reg last, Reg keys,
                   const std::function<Reg(const Expr&)>& load) {
  TileBuilder& build = emit.build();
  const auto lower = [&](Reg a, Reg b) { return build.min(a, b); };
  const auto higher = [&](Reg a, Reg b) { return build.expr(ExprOp::max, {a, b}); };
  const Reg zero = emit.integer(0), one = emit.integer(1);
  KeyRange r{zero, keys, zero, keys};
  // Loaded lengths may be any number: they are clamped, so that sums do not overflow.
  const Reg beyond = emit.integer(int64_t{1} << 40);
  for (const KeyBound& b : visible.bounds) {
    Reg offset = emit.dim(b.offset);
    if (b.loaded) offset = build.add(offset, higher(emit.integer(-(int64_t{1} << 40)), lower(beyond, load(b.loaded))));
    const auto at = [&](Reg query) { return emit.add_scaled(offset, Dim(b.slope), query); };
    const Reg least = at(b.slope >= 0 ? first : last), most = at(b.slope >= 0 ? last : first);
    if (b.upper) {
      r.end = lower(r.end, build.add(most, one));
      r.clear_end = lower(r.clear_end, build.add(least, one));
    } else {
      r.begin = higher(r.begin, least);
      r.clear_begin = higher(r.clear_begin, most);
    }
  }
  r.begin = lower(r.begin, keys);
  r.end = higher(r.end, r.begin);
  return r;
}

}  // namespace tenon::codegen
