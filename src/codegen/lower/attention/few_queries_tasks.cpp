// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/attention/few_queries_tasks.h"

namespace tenon::codegen {

bool skips_hidden_keys(const AttentionCode& code) { return code.visible && code.visible->hidden_score == -kInfinity; }

std::pair<Reg, Reg> read_key_range(AttentionCode& code, Reg query, const AttentionPoint& head) {
  if (!skips_hidden_keys(code)) return {code.number(0), code.emit.dim(code.extent(kKey))};
  const KeyRange range = code.visible_key_range(query, query, head);
  return {range.begin, range.end};
}

}  // namespace tenon::codegen
