// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "helpers.h"
#include "ir/builder.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

/// How many mappings of this process are files that have no name any more.
size_t nameless_mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with("(deleted)");
  return count;
}

/// Rows of two tables, and what stands before, between and behind them: pages of a file begin and end within no other weight.
std::unique_ptr<ir::Graph> two_lookups() {
  auto graph = *ir::parse("graph model(ids: i64[n], x: f32[n,257]) { return x }", ops::table());
  ir::Builder b(*graph);
  ir::ValueId sum = graph->inputs()[1];
  for (const int64_t rows : {1, 2050, 1, 4099, 1}) {
    const ir::ValueId weights = b.constant(*ops::random_tensor(DType::f32, {rows, 257}, static_cast<uint64_t>(rows)));
    sum = b("Add", {sum, rows > 1 ? b("Gather", {weights, graph->inputs()[0]}) : weights});
  }
  graph->add_output(sum, "y");
  return graph;
}

TEST(PlaceWeights, KeepsLargeTablesInFilesWithoutNames) {
  const std::vector<Tensor> inputs{Tensor::of_i64({4}, std::vector<int64_t>{0, 1023, 1024, 2049}),
                                   *ops::random_tensor(DType::f32, {4, 257}, 9)};
  const auto want = ops::evaluate(*two_lookups(), inputs);
  ASSERT_TRUE(want) << want.error().text();
  const size_t before = nameless_mappings();
  auto compiled = compile(two_lookups(), {});
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto engine = load_compiled(*std::move(compiled));
  ASSERT_TRUE(engine) << engine.error().text();
  const size_t tables = nameless_mappings() - before;
  auto context = *runtime::Context::create(*engine);
  const auto got = testing::copied_results(*context, inputs);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(testing::difference((*want)[1], (*got)[1]), "");
  if (tables == 0) GTEST_SKIP() << "needs a disk below $TMPDIR or /var/tmp";
  EXPECT_EQ(tables, 2u);
}

}  // namespace
}  // namespace tenon::compiler
