// SPDX-License-Identifier: Apache-2.0
// Random graphs of mixed element types, each node on one of three backends at random: where all of them are the reference, the results are
// those of the whole, to the bit.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>

#include "../../partition/typed_graphs.h"
#include "compiler/load.h"
#include "every_other.h"
#include "helpers.h"
#include "ops/reference/evaluate.h"
#include "seeds.h"

namespace tenon::compiler {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.byte_size() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.byte_size())) == 0);
}

class Masks : public ::testing::Test {
 protected:
  void check(uint64_t seed, const std::vector<DType>& types) {
    const std::string text = partition::TypedGraphs(seed).write(24, types);
    SCOPED_TRACE(fmt::format("TENON_SEED={}\n{}", seed, text));
    const auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto inputs = partition::inputs_of(**graph, seed, 2);
    const auto want = ops::evaluate(**graph, inputs);
    ASSERT_TRUE(want) << want.error().text();
    const auto draw = [&](ir::NodeId n) { return (n.slot() + 1) * (seed * 2 + 1) * 0x9E3779B97F4A7C15U >> 61; };
    const tests::Some one("one", *all_[1], [&](const ir::Graph&, ir::NodeId n) { return draw(n) < 3; });
    const tests::Some two("two", *all_[1], [&](const ir::Graph&, ir::NodeId n) { return draw(n) < 6; });
    CompileOptions options;
    options.opt = 0;
    options.verify = true;
    options.backends = {&one, &two, all_[1], all_[0]};
    options.constraints.listed = 3;
    auto compiled = compile((*graph)->clone(), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    segments_ += compiled->partition.segments.size();
    for (const ir::Segment& s : compiled->partition.segments) EXPECT_NE(s.backend, "cpu");
    const auto engine =
        load_compiled(*std::move(compiled), {std::make_shared<tests::Renamed>("one"), std::make_shared<tests::Renamed>("two")});
    ASSERT_TRUE(engine) << engine.error().text();
    const auto got = testing::copied_results(**runtime::Context::create(*engine), inputs);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_TRUE(same_bytes((*want)[k], (*got)[k])) << "result " << k;
  }

  const backend::Backends all_ = *backends_named();
  size_t segments_ = 0;
};

TEST_F(Masks, OfIntegersChangeNoBit) {
  tests::each_seed(100, [&](uint64_t seed) { check(seed, partition::kIntegers); });
  if (!tests::one_seed()) EXPECT_GT(segments_, 500u);
}

TEST_F(Masks, OfFloatsChangeNoBit) {
  tests::each_seed(100, [&](uint64_t seed) { check(seed, partition::kFloats); });
  if (!tests::one_seed()) EXPECT_GT(segments_, 500u);
}

}  // namespace
}  // namespace tenon::compiler
