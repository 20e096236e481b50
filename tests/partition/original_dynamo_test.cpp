// SPDX-License-Identifier: Apache-2.0
// The tests of Torch-TensorRT's partitioners for Dynamo: how many segments there are. Where Tenon means something else, the test says so.
#include "named.h"

namespace tenon::partition {
namespace {

using Lists = std::vector<std::string>;

/// One op falls back, by name; what is too small too.
Result<Partition> partitioned(std::string_view text, const std::vector<std::string>& fallback_ops, uint32_t least = 0, bool full = false) {
  const auto graph = graph_of(text);
  const TwoBackends two(*graph, all_but(*graph));
  Constraints constraints;
  constraints.listed = 2;
  constraints.fallback_ops = fallback_ops;
  constraints.min_block_size = least;
  constraints.require_full = full;
  TRY(attach_constraints(*graph, constraints, two.roles));
  Partition out = TRY(partition(*graph, two.roles, constraints));
  return out;
}
size_t accelerated(std::string_view text, const std::vector<std::string>& fallback_ops, uint32_t least = 0, bool full = false) {
  const auto partition = partitioned(text, fallback_ops, least, full);
  EXPECT_TRUE(partition) << partition.error().text();
  return static_cast<size_t>(std::ranges::count(partition->segments, "acc", &ir::Segment::backend));
}

constexpr std::string_view kOneOp = "graph main(x: f32[4], y: f32[4]) { a = Add(x, y) return a }";
constexpr std::string_view kSums = R"(graph main(x: f32[4], y: f32[4]) {
  a = Add(x, y) b = Mul(a, y) s = ReduceSum(b, keepdims=0) c = Mul(b, s) d = Add(c, y) return d })";

TEST(OriginalFast, OneOpIsTooSmall) { EXPECT_EQ(accelerated(kOneOp, {}, 5), 0u); }

/// There the least size does not count with full compilation. Here it was said, and both cannot be had.
TEST(OriginalFast, OneOpAndFullCompilation) {
  EXPECT_EQ(accelerated(kOneOp, {}, 0, true), 1u);
  const auto refused = partitioned(kOneOp, {}, 5, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_supported);
  EXPECT_EQ(refused.error()->found, "Add (1x)");
}

TEST(OriginalFast, SeveralOpsAreOneSegment) { EXPECT_EQ(accelerated(kSums, {}, 2), 1u); }
TEST(OriginalFast, AnOpBetweenSupportedOnesMakesTwoSegments) { EXPECT_EQ(accelerated(kSums, {"ReduceSum"}, 2), 2u); }

/// There it is silently one segment.
TEST(OriginalFast, AnOpThatFallsBackAndIsNotThereIsAnError) {
  const auto refused = partitioned(kSums, {"Sub"}, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_usage);
}

constexpr std::string_view kNetwork = R"(graph main(x: f32[1,3,16,16], w: f32[4,3,3,3], v: f32[4,4,3,3], f: f32[16,10]) {
  const flat: i64[2] = [1, -1]
  c = Conv(x, w) r = Relu(c) p = MaxPool(r, kernel_shape=[2,2], strides=[2,2])
  d = Conv(p, v) s = Relu(d) q = MaxPool(s, kernel_shape=[2,2], strides=[2,2])
  t = Reshape(q, flat) m = MatMul(t, f) return m })";

TEST(OriginalGlobal, ANetworkIsOneSegment) { EXPECT_EQ(accelerated(kNetwork, {}), 1u); }
TEST(OriginalGlobal, ANetworkWithReluOnTheFallbackIsThreeSegments) { EXPECT_EQ(accelerated(kNetwork, {"Relu"}), 3u); }

/// Takes nodes by their ops.
class OfOps final : public backend::Backend {
 public:
  OfOps(std::string name, std::vector<std::string> ops) : name_(std::move(name)), ops_(std::move(ops)) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    if (ops_.empty() || std::ranges::count(ops_, graph.node(node).op->name) > 0) return {};
    return fail(Code::not_supported, "", "not one of " + name_);
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  bool is_host() const override { return ops_.empty(); }
  Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }

 private:
  std::string name_;
  std::vector<std::string> ops_;
};

constexpr std::string_view kNormalised = R"(graph main(x: f32[1,3,16,16], w: f32[3,3,3,3], s: f32[3], b: f32[3], m: f32[3], v: f32[3]) {
  c1 = Conv(x, w) n1 = BatchNormalization(c1, s, b, m, v) r1 = Relu(n1)
  c2 = Conv(r1, w) n2 = BatchNormalization(c2, s, b, m, v) r2 = Relu(n2) return r2 })";

Lists hierarchical(const backend::Backends& backends, const std::vector<std::string>& fallback_ops = {}) {
  const auto graph = graph_of(kNormalised);
  Constraints constraints;
  constraints.listed = backends.size();
  constraints.fallback_ops = fallback_ops;
  const Roles roles(backends, constraints);
  EXPECT_TRUE(attach_constraints(*graph, constraints, roles));
  const auto partition = partition::partition(*graph, roles, constraints);
  EXPECT_TRUE(partition) << partition.error().text();
  EXPECT_TRUE(partition->proved());
  return lists_of(*graph, *partition);
}

TEST(OriginalHierarchical, ConvolutionsOnOneAndTheRestOnAnother) {
  const OfOps one("one", {"Conv"}), two("two", {"Conv", "BatchNormalization", "Relu"}), host("host", {});
  EXPECT_EQ(hierarchical({&one, &two, &host}), (Lists{"one: c1", "two: n1 r1", "one: c2", "two: n2 r2"}));
}

TEST(OriginalHierarchical, TheOrderOfPriorityDecides) {
  const OfOps one("one", {"Conv"}), two("two", {"Conv", "BatchNormalization", "Relu"}), host("host", {});
  EXPECT_EQ(hierarchical({&two, &one, &host}), (Lists{"two: c1 n1 r1 c2 n2 r2"}));
}

TEST(OriginalHierarchical, PinnedOpsFallBackBetweenSegments) {
  const OfOps one("one", {"Conv"}), two("two", {"Conv", "BatchNormalization", "Relu"}), host("host", {});
  EXPECT_EQ(hierarchical({&one, &two, &host}, {"BatchNormalization"}),
            (Lists{"one: c1", "host: n1", "two: r1", "one: c2", "host: n2", "two: r2"}));
}

TEST(OriginalHierarchical, UnsupportedOpsFallBack) {
  const OfOps one("one", {"Conv"}), two("two", {"Relu"}), host("host", {});
  EXPECT_EQ(hierarchical({&one, &two, &host}), (Lists{"one: c1", "host: n1", "two: r1", "one: c2", "host: n2", "two: r2"}));
}

}  // namespace
}  // namespace tenon::partition
