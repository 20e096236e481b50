// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/assume.h"

namespace tenon::ops {

bool assume(const NodeView& view, AssumptionKind kind, Dim a, Dim b, FunctionRef<std::string()> what) {
  const auto known = ir::decide(kind, a, b);
  if (!known && view.assumptions) {
    view.assumptions->add(kind, a, b, [&](ir::Assumption& made) {
      made.where = view.where();
      made.what = what();
    });
  }
  return known.value_or(true);
}

}  // namespace tenon::ops
