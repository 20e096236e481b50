// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/excerpt.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"

namespace tenon::cli {
namespace {

std::unique_ptr<ir::Graph> parsed(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

ir::NodeId maker(const ir::Graph& graph, std::string_view value) { return graph.value(graph.find_value(value)).producer; }

std::vector<std::string> names(const ir::Graph& graph, std::span<const ir::ValueId> values) {
  std::vector<std::string> out;
  for (ir::ValueId v : values) out.push_back(graph.value(v).name);
  return out;
}

constexpr std::string_view kChain = R"(graph main(x: f32[n,4], z: f32[n,4]) {
  a = Relu(x)
  b = Tanh(a)
  c = Add(b, z)
  d = Sigmoid(c)
  return d
})";

TEST(Excerpt, TakesWhatItDoesNotMakeAsInputs) {
  const auto graph = parsed(kChain);
  const std::vector<ExcerptResult> results{{graph->find_value("c"), "c"}};
  const Excerpt e = cut_excerpt(*graph, {maker(*graph, "c"), maker(*graph, "b")}, {}, results);
  EXPECT_EQ(names(*e.graph, e.graph->inputs()), (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(e.graph->node_count(), 2u);
  EXPECT_EQ(e.graph->output_name(0), "c");
  EXPECT_EQ(e.graph->value(e.graph->outputs()[0]).type.text(), "f32[n,4]");
  EXPECT_TRUE(ir::verify(*e.graph));
}

TEST(Excerpt, HandsThroughAResultThatIsNoneOfTheNodes) {
  const auto graph = parsed(kChain);
  const std::vector<ExcerptResult> results{{graph->find_value("x"), "y"}};
  const Excerpt e = cut_excerpt(*graph, {}, {}, results);
  EXPECT_EQ(e.graph->node_count(), 0u);
  EXPECT_EQ(e.graph->outputs()[0], e.graph->inputs()[0]);
}

TEST(Excerpt, BringsSmallConstantsAlongAndLeavesLargeOnesOutside) {
  const auto graph = parsed(R"(graph main(x: f32[8,8192]) {
  const small: f32[] = 2
  const large: f32[8192] = splat(3)
  a = Mul(x, small)
  b = Add(a, large)
  return b
})");
  const std::vector<ExcerptResult> results{{graph->find_value("b"), "b"}};
  const Excerpt e = cut_excerpt(*graph, {maker(*graph, "a"), maker(*graph, "b")}, {}, results);
  EXPECT_EQ(names(*e.graph, e.graph->inputs()), (std::vector<std::string>{"x", "large"}));
  EXPECT_TRUE(e.graph->value(e.graph->find_value("small")).is_constant());
}

TEST(Excerpt, MarksContextNodes) {
  const auto graph = parsed(kChain);
  const std::vector<ExcerptResult> results{{graph->find_value("c"), "c"}};
  const std::vector<ir::NodeId> context{maker(*graph, "b")};
  EXPECT_EQ(cut_excerpt(*graph, {maker(*graph, "c")}, context, results).context, (std::vector<bool>{true, false}));
}

TEST(NodesBetween, AreThoseOnAWayFromTheValues) {
  const auto graph = parsed(kChain);
  const std::vector<ir::NodeId> nodes{maker(*graph, "d")};
  const std::vector<ir::ValueId> start{graph->find_value("a")};
  EXPECT_EQ(nodes_between(*graph, start, nodes), (std::vector<ir::NodeId>{maker(*graph, "b"), maker(*graph, "c")}));
}

TEST(NodesBetween, AreNoneWhereTheValueIsAnInputAlreadyOrLeadsNowhere) {
  const auto graph = parsed(kChain);
  const std::vector<ir::NodeId> nodes{maker(*graph, "b")};
  EXPECT_TRUE(nodes_between(*graph, std::vector{graph->find_value("a")}, nodes).empty());
  EXPECT_TRUE(nodes_between(*graph, std::vector{graph->find_value("z")}, nodes).empty());
}

}  // namespace
}  // namespace tenon::cli
