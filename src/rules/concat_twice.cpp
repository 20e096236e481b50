// SPDX-License-Identifier: Apache-2.0
// Concat(x, x) computes nothing new: an op that treats every element alike is applied to x once. Exact: the same elements go through
// the same op.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::rules_concat_twice {
using namespace rewrite;
namespace {

bool repeated(Match& m) {
  const ValueId data = m.operand(m.root(), 0);
  const NodeId concat = m.made_by(data, "Concat");
  if (!concat || m.node(m.root()).inputs.size() != 1) return false;
  const std::vector<ValueId>& parts = m.node(concat).inputs;
  if (parts.size() < 2 || std::ranges::any_of(parts, [&](ValueId p) { return p != parts[0]; })) return false;
  m.keep(concat);
  return true;
}

bool apply_once(const Match& m, Rewriter& w) {
  const NodeId concat = m.kept<NodeId>();
  const std::vector<ValueId> parts(m.node(concat).inputs.size(), w.again(m.root(), {m.operand(concat, 0)})[0]);
  w.replace(m.result(m.root()), w.again(concat, parts)[0]);
  return true;
}

}  // namespace

RULES(concat_twice) {
    .stage = Stage::clean,
    .sets = "default",
    .rules =
        {
            {.name = "concat_twice",
             .docs = "f(Concat(x, x)) is Concat(f(x), f(x)) for an element-wise f",
             .roots = "Abs Cast Ceil Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Not Reciprocal Relu "
                      "Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh",
             .match = repeated,
             .rewrite = apply_once,
             .benefit = 3,
             .shared = true,
             .seeds = "ConcatTwiceUnary"},
        },
};

}  // namespace tenon::rules::rules_concat_twice
