// SPDX-License-Identifier: Apache-2.0
// Random graphs of mixed element types, over backends that lack some: by reference, what they give with Casts is what they give without.
#include <cmath>
#include <set>

#include "ir/verify.h"
#include "named.h"
#include "ops/reference/evaluate.h"
#include "partition/retype.h"
#include "typed_graphs.h"

namespace tenon::partition {
namespace {

/// Refuses some types wholly, and of others some ops, so that Casts of all kinds come about.
class Lacking final : public backend::Backend {
 public:
  Lacking(std::set<DType> types, uint64_t seed) : types_(std::move(types)), seed_(seed) {}
  std::string_view name() const override { return types_.empty() ? "host" : "acc"; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const ir::Node& n = graph.node(node);
    for (const auto* values : {&n.inputs, &n.outputs})
      for (ir::ValueId v : *values)
        if (v && types_.contains(graph.value(v).type.dtype)) return fail(Code::not_supported, "", "no such type");
    if (!types_.empty() && (std::hash<std::string>()(n.op->name) ^ seed_) % 4 == 0) return fail(Code::not_supported, "", "no such op");
    return {};
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  bool is_host() const override { return types_.empty(); }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::set<DType> types_;
  uint64_t seed_;
};

struct Pair {
  std::vector<Tensor> as_it_was, with_casts;
  size_t casts = 0;
};

/// A graph of the seed, and what it gives before and after.
Pair results_of(uint64_t seed, bool floats, double largest) {
  const std::string text = TypedGraphs(seed).write(24, floats ? kFloats : kIntegers);
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
  const std::vector<DType>& all = floats ? kFloats : kIntegers;
  std::set<DType> lacked;
  for (size_t k = 0; k < all.size(); ++k)
    if ((seed + 1) >> k & 1) lacked.insert(all[k]);
  if (lacked.empty()) lacked.insert(all[0]);
  const Lacking acc(lacked, seed), host({}, seed);
  const backend::Backends backends = {&acc, &host};
  auto graph = graph_of(text);
  const auto inputs = inputs_of(*graph, seed, largest);
  Pair out;
  out.as_it_was = *ops::evaluate(*graph, inputs);
  const size_t before = graph->node_count();
  const auto partition = partition_with_casts(graph, Roles(backends, size_t{0}), {});
  EXPECT_TRUE(partition) << partition.error().text();
  out.casts = graph->node_count() - before;
  const auto legal = ir::verify(*graph);
  EXPECT_TRUE(legal) << legal.error().text();
  out.with_casts = *ops::evaluate(*graph, inputs);
  return out;
}

TEST(CastsRandom, IntegersAreBitIdentical) {
  size_t with_casts = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Pair got = results_of(seed, false, 1e12);
    with_casts += got.casts > 0;
    for (size_t k = 0; k < got.as_it_was.size(); ++k) {
      const Tensor &want = got.as_it_was[k], &is = got.with_casts[k];
      ASSERT_EQ(want.dtype(), is.dtype()) << "seed " << seed;
      ASSERT_EQ(want.shape(), is.shape());
      for (int64_t i = 0; i < want.count(); ++i) ASSERT_EQ(want.integer(i), is.integer(i)) << "seed " << seed << ", result " << k;
    }
  }
  EXPECT_GT(with_casts, 150u);
}

/// Between two nodes nothing is rounded that was: both lie as near the truth as roundings to the narrowest type let them.
TEST(CastsRandom, FloatErrorsAreWithinTheirBounds) {
  size_t with_casts = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Pair got = results_of(seed, true, 2);
    with_casts += got.casts > 0;
    for (size_t k = 0; k < got.as_it_was.size(); ++k) {
      const Tensor &want = got.as_it_was[k], &is = got.with_casts[k];
      ASSERT_EQ(want.dtype(), is.dtype()) << "seed " << seed;
      for (int64_t i = 0; i < want.count(); ++i)
        ASSERT_NEAR(want.number(i), is.number(i), 2e-2 * std::max(1.0, std::fabs(want.number(i)))) << "seed " << seed << ", result " << k;
    }
  }
  EXPECT_GT(with_casts, 150u);
}

}  // namespace
}  // namespace tenon::partition
