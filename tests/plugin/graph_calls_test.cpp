// SPDX-License-Identifier: Apache-2.0
#include "plugin/run/graph_calls.h"

#include <gtest/gtest.h>

#include <functional>

#include "plugin/host.h"
#include "plugin/tensor_views.h"

namespace tenon::plugin {
namespace {

/// Graph 0 has an operand and a result, graph 1 two operands and a result.
class MadeGraphs final : public InnerGraphs {
 public:
  uint32_t count() const override { return 2; }
  Ports ports(uint32_t number) const override { return {number + 1, 1}; }
  Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) override {
    ran.push_back(number);
    seen = {operands[0].data(), results[0].data()};
    return act();
  }
  std::function<Result<void>()> act = [] { return Result<void>(); };
  std::vector<uint32_t> ran;
  std::pair<const void*, const void*> seen;
};

/// A call on tensors x, y and z of f32[2,3].
struct Given {
  Given() : operands(2), results(1) {
    calls.set_graphs(&graphs);
    for (size_t k = 0; k < 2; ++k) operands.set(k, tensors[k]);
    results.set(0, tensors[2]);
  }
  int32_t run(uint32_t number = 0) { return calls.run(number, operands.data(), results.data()); }

  std::vector<Tensor> tensors{*Tensor::make(DType::f32, {2, 3}), *Tensor::make(DType::f32, {2, 3}), *Tensor::make(DType::f32, {2, 3})};
  MadeGraphs graphs;
  GraphCalls calls;
  TensorViews operands, results;
};

TEST(GraphCalls, RunOnTheGivenTensors) {
  Given given;
  EXPECT_EQ(given.run(1), TENON_OK);
  EXPECT_EQ(given.graphs.seen,
            std::pair(static_cast<const void*>(given.tensors[0].data()), static_cast<const void*>(given.tensors[2].data())));
  const Tensor other = *Tensor::make(DType::f32, {2, 3});
  given.operands.set_data(0, const_cast<std::byte*>(other.data()));
  EXPECT_EQ(given.run(1), TENON_OK);
  EXPECT_EQ(given.graphs.seen.first, other.data()) << "the same sizes, elsewhere";
  uint32_t operands = 0, results = 0;
  EXPECT_EQ(given.calls.ports(1, &operands, &results), TENON_OK);
  EXPECT_EQ(operands, 2u);
  EXPECT_EQ(results, 1u);
}

TEST(GraphCalls, OfANodeWithoutGraphsAreRefused) {
  Given given;
  given.calls.set_graphs(nullptr);
  EXPECT_EQ(given.run(), TENON_FAILED);
  EXPECT_NE(take_failure().find("it added none"), std::string::npos);
}

TEST(GraphCalls, RefuseMemoryThatIsNotTheResultsOwn) {
  for (int64_t by : {-8, 0, 8}) {
    Given given;
    given.results.set_data(0, given.tensors[1].mutable_data() + by);
    EXPECT_EQ(given.run(1), TENON_FAILED) << by;
    EXPECT_NE(take_failure().find("that of operand 1"), std::string::npos);
    EXPECT_TRUE(given.graphs.ran.empty());
  }
}

TEST(GraphCalls, RunInSequence) {
  Given given;
  int32_t inside = TENON_OK;
  given.graphs.act = [&]() -> Result<void> {
    inside = given.run();
    return {};
  };
  EXPECT_EQ(given.run(), TENON_OK);
  EXPECT_EQ(inside, TENON_FAILED);
  EXPECT_NE(take_failure().find("one after the other"), std::string::npos);
  given.graphs.act = [] { return Result<void>(); };
  EXPECT_EQ(given.run(), TENON_OK) << "and on";
}

TEST(GraphCalls, KeepThePartsOfAnErrorThatIsPassedOn) {
  Given given;
  given.graphs.act = []() -> Result<void> { return fail(Code::deadline, "node 'slow'", "no time is left").expected("1 ms").found("2 ms"); };
  EXPECT_EQ(given.run(), TENON_STOPPED);
  const auto enqueue = [](const std::string& said) { return fail(Code::cancelled, "node 'it'", "its `enqueue` says: " + said); };
  const Error reported = given.calls.with_cause(enqueue(take_failure()));
  EXPECT_EQ(reported.code(), Code::deadline);
  EXPECT_EQ(reported->place, "node 'it'");
  EXPECT_EQ(reported->what, "its `enqueue` ran a graph that failed: inner graph 0, node 'slow': no time is left");
  EXPECT_EQ(reported->expected, "1 ms");
  EXPECT_EQ(reported->found, "2 ms");
  EXPECT_EQ(given.calls.with_cause(enqueue("something else"))->what, "its `enqueue` says: something else");
  given.calls.forget();
  EXPECT_EQ(given.calls.with_cause(enqueue("no time is left")).code(), Code::cancelled);
}

}  // namespace
}  // namespace tenon::plugin
