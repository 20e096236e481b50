// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/few_queries_tasks.h"

namespace tenon::codegen {

bool skips_hidden_keys(const AttentionCode& code) { return code.visible && code.visible->hidden_score == -kInfinity; }

std::pair<Reg, Reg> visible_to(AttentionCode& code, Reg query) {
  const Reg all = code.emit.dim(code.extent(kKey));
  if (!skips_hidden_keys(code)) return {code.number(0), all};
  const KeyRange range = key_range(code.emit, *code.visible, query, query, all);
  return {range.begin, range.end};
}

}  // namespace tenon::codegen
