// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/give_back.h"

namespace tenon::rules {
using namespace rewrite;

bool same_type_as_first(Match& m) { return m.operand(m.root(), 0) && m.same_type(m.result(m.root()), m.operand(m.root(), 0)); }

bool give_first(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.operand(m.root(), 0));
  return true;
}

bool give_kept(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.kept<ValueId>());
  return true;
}

}  // namespace tenon::rules
