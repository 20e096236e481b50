// SPDX-License-Identifier: Apache-2.0
// Tasks of loops: enough for several threads, none that takes longer to find than to run.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Of the graph's only kernel, with `n` and `m` of that size.
int64_t tasks(std::string_view text, int64_t symbol) {
  const auto graph = ir::parse(text, ops::table());
  if (!graph) return ADD_FAILURE() << graph.error().text(), 0;
  const auto planned = planned_graph(**graph, {}, **target_named("x86_avx2"));
  if (!planned) return ADD_FAILURE() << planned.error().text(), 0;
  int64_t out = 0;
  for (const auto& kernels : planned->kernels_by_group)
    for (const Kernel& k : kernels) out += substitute(k.tasks, [&](const DimNode&) { return Dim(symbol); }).value();
  return out;
}

TEST(Tasks, DynamicBatchOfOneImageHasSeveralTasks) {
  // The second factor keeps the axes apart.
  EXPECT_EQ(tasks("graph main(x: f32[n,32,384], s: f32[n,1,384]) { y = Mul(x, s) return y }", 1), 32);
  EXPECT_EQ(tasks("graph main(x: f32[n,32,384], s: f32[n,1,384]) { y = Mul(x, s) return y }", 5), 160);
  EXPECT_EQ(tasks("graph main(x: f32[64,32,384], s: f32[64,1,384]) { y = Mul(x, s) return y }", 1), 64) << "64 are enough";
}

TEST(Tasks, TaskCoversSeveralShortRows) { EXPECT_EQ(tasks("graph main(x: f32[n,m,3], s: f32[n,1,3]) { y = Mul(x, s) return y }", 50), 50); }

}  // namespace
}  // namespace tenon::codegen
