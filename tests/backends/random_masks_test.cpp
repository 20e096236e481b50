// SPDX-License-Identifier: Apache-2.0
// Random graphs, each node on one of two backends at random: on pairs of real ones the results lie within the bounds of their types.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../compiler/every_other.h"
#include "../compiler/helpers.h"
#include "../partition/typed_graphs.h"
#include "ops/reference/evaluate.h"
#include "peers.h"

namespace tenon::tests {
namespace {

struct Pair {
  std::string first, second;
  bool has(std::string_view name) const { return first == name || second == name; }
};
void PrintTo(const Pair& p, std::ostream* out) { *out << p.first << " and " << p.second; }

class RandomMasks : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override {
    std::vector<std::string> names = {GetParam().first, GetParam().second};
    const auto named = peers()->named(names);
    if (!named) GTEST_SKIP() << "needs the libraries of both";
    backends_ = *named;
  }

  /// ONNX Runtime ends a run that divides an integer by zero.
  void check(uint64_t seed, const std::vector<DType>& types) {
    const std::string text = partition::TypedGraphs(seed).write(16, types);
    if (is_integer(types[0]) && GetParam().has("onnxruntime") && (text.contains("Div(") || text.contains("Mod("))) return;
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const auto graph = *ir::parse(text, ops::table());
    const auto inputs = partition::inputs_of(*graph, seed, 2);
    const auto want = ops::evaluate(*graph, inputs);
    ASSERT_TRUE(want) << want.error().text();
    const Some some(GetParam().first, *backends_[0],
                    [&](const ir::Graph&, ir::NodeId n) { return ((n.slot() + 1) * (seed * 2 + 1) * 0x9E3779B97F4A7C15U >> 63) != 0; });
    compiler::CompileOptions options;
    options.opt = seed % 2 == 0 ? 0 : 3;
    options.registry = peers();
    options.backends = backends_;
    options.backends[0] = &some;
    options.constraints.listed = 2;
    auto compiled = compiler::compile(graph->clone(), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    for (const ir::Segment& s : compiled->partition.segments) ++segments_[s.backend];
    auto context = runtime::Context::create(*compiler::load_compiled(*std::move(compiled)));
    ASSERT_TRUE(context) << context.error().text();
    const auto got = compiler::testing::copied_results(**context, inputs);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k], 4), "") << "result " << k;
  }

  backend::Backends backends_;
  std::map<std::string, size_t> segments_;
};

TEST_P(RandomMasks, LieWithinTheirBounds) {
  for (uint64_t seed = 0; seed < 20; ++seed) check(seed, {DType::f32});
  for (const std::string& name : {GetParam().first, GetParam().second}) EXPECT_GT(segments_[name], 20u) << name;
  for (uint64_t seed = 0; seed < 60; ++seed) check(seed, {DType::i32, DType::i64});
}

INSTANTIATE_TEST_SUITE_P(Peers, RandomMasks,
                         testing::Values(Pair{"reference", "cpu"}, Pair{"onnxruntime", "cpu"}, Pair{"openvino", "cpu"},
                                         Pair{"onnxruntime", "openvino"}, Pair{"openvino", "onnxruntime"}),
                         [](const auto& info) { return info.param.first + "_" + info.param.second; });

}  // namespace
}  // namespace tenon::tests
