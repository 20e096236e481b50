// SPDX-License-Identifier: Apache-2.0
// OpDef::fold of constant operands against the op's reference, bit for bit.
#include <gtest/gtest.h>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

/// The sample with a constant for each operand.
Result<SampleCase> all_constant(const OpDef& def, std::string_view text) {
  Sample sample = TRY(parse_sample(def, text));
  for (size_t k = 0; k < sample.operands.size(); ++k) {
    SampleOperand& o = sample.operands[k];
    if (o.present && !o.value) o.value = TRY(random_tensor(o.dtype, o.shape, 7 + k, o.low, o.high));
  }
  return build_sample(def, sample, 1);
}

/// Whether OpDef::fold returned results (which are compared).
bool folds(const OpDef& def, const SampleCase& made) {
  std::vector<ir::ConstantRef> in;
  std::vector<const Tensor*> operands;
  for (const Tensor& t : made.operands) {
    in.push_back(t.empty_handle() ? nullptr : ir::constant_of(t));
    operands.push_back(t.empty_handle() ? nullptr : &t);
  }
  const Folded folded = def.fold(made.graph->view(made.node), in);
  if (!folded) return false;
  const auto expected = evaluate_node(*made.graph, made.node, operands, Mode::declared);
  EXPECT_TRUE(expected) << expected.error().text();
  for (size_t k = 0; expected && k < expected->size(); ++k) {
    EXPECT_EQ((*folded)[k]->shape, (*expected)[k].shape());
    EXPECT_TRUE(ir::same(*(*folded)[k], *ir::constant_of((*expected)[k]))) << "result " << k;
  }
  return true;
}

TEST(Folds, GiveTheBytesOfTheReference) {
  int ops = 0;
  for (const OpDef* def : all_ops()) {
    if (!def->fold) continue;
    ++ops;
    int said = 0;
    for (std::string_view text : def->samples) {
      SCOPED_TRACE(std::string(def->name) + ": " + std::string(text));
      const auto made = all_constant(*def, text);
      ASSERT_TRUE(made) << made.error().text();
      said += folds(*def, *made);
    }
    EXPECT_GT(said, 0) << def->name << " folds none of its samples";
  }
  EXPECT_GE(ops, 12);
}

}  // namespace
}  // namespace tenon::ops
