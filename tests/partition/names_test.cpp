// SPDX-License-Identifier: Apache-2.0
#include "partition/names.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::partition {
namespace {

TEST(Names, AnUnnamedValueIsNamedAfterItsNode) {
  const auto graph = *ir::parse("graph main(x: f32[4]) { const k: i64[1] = [2] a = Neg(x) b, c = TopK(a, k) return b, c }", ops::table());
  Partition partition;
  for (auto& [n, name] : names_of_nodes(*graph)) {
    partition.nodes.emplace_back().node = n;
    partition.nodes.back().name = name;
  }
  const ir::ValueId a = graph->find_value("a"), c = graph->find_value("c");
  EXPECT_EQ(Names(*graph, partition).value(a), "a");
  for (ir::ValueId v : {a, c}) graph->set_name(v, "");
  const Names names(*graph, partition);
  EXPECT_EQ(names.value(a), names.node(graph->value(a).producer));
  EXPECT_EQ(names.value(c), "TopK_1:1");
  EXPECT_EQ(names.value(graph->inputs()[0]), "x");
}

}  // namespace
}  // namespace tenon::partition
