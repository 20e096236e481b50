// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/segment_report.h"

#include <gtest/gtest.h>

#include "../compiler/every_other.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::cli {
namespace {

/// The reference under another name. Where a segment has the op `about`, its first result is not what it should be.
class Liar final : public runtime::Device {
 public:
  enum class Lie : uint8_t { none, number, shape, dtype, count };
  Liar(Lie lie, std::string about) : lie_(lie), about_(std::move(about)) {}
  std::string_view name() const override { return "elsewhere"; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    auto honest = TRY(honest_.make(blob));
    if (!blob.bytes.contains(about_ + "(")) return honest;
    return std::make_unique<Answer>(std::move(honest), lie_);
  }

 private:
  struct Answer final : runtime::Segment {
    Answer(std::unique_ptr<runtime::Segment> s, Lie l) : honest(std::move(s)), lie(l) {}
    Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                    const runtime::RunOptions& options) override {
      auto out = TRY(honest->run(operands, places, options));
      if (lie == Lie::number) reinterpret_cast<float*>(out[0].mutable_data())[1] += 0.5f;
      if (lie == Lie::shape) out[0] = TRY(Tensor::make(out[0].dtype(), {7}));
      if (lie == Lie::dtype) out[0] = TRY(Tensor::make(DType::u8, out[0].shape()));
      if (lie == Lie::count) out.clear();
      return out;
    }
    std::unique_ptr<runtime::Segment> honest;
    Lie lie;
  };
  tests::Renamed honest_{"elsewhere"};
  Lie lie_;
  std::string about_;
};

class BySegment : public ::testing::Test {
 protected:
  /// Backend `elsewhere` runs the ops of `taken`; the rest is for kernels.
  void compile(std::string_view text, std::set<std::string> taken) {
    elsewhere_.emplace("elsewhere", *all_[1],
                       [taken = std::move(taken)](const ir::Graph& graph, ir::NodeId n) { return taken.contains(graph.node(n).op->name); });
    options_.backends = {&*elsewhere_, all_[0], all_[1]};
    auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    auto compiled = compiler::compile(std::move(*graph), options_);
    ASSERT_TRUE(compiled) << compiled.error().text();
    compiled_ = *std::move(compiled);
  }

  std::vector<SegmentCheck> checks(Liar::Lie lie, std::string about, std::span<const Tensor> inputs) {
    auto out = check_segments(*compiled_.graph, compiled_.partition, inputs, options_, {}, {std::make_shared<Liar>(lie, std::move(about))});
    EXPECT_TRUE(out) << out.error().text();
    return *std::move(out);
  }

  Result<void> verdict(std::span<const SegmentCheck> checks) { return verdict_of_segments(*compiled_.graph, compiled_.partition, checks); }

  const backend::Backends all_ = *compiler::backends_named();
  std::optional<tests::Some> elsewhere_;
  compiler::CompileOptions options_;
  compiler::Compiled compiled_;
};

constexpr std::string_view kChain = "graph main(x: f32[n,4]) { a = Exp(x) b = Neg(a) c = Sigmoid(b) d = Abs(c) e = Sqrt(d) return e }";
Tensor input() { return Tensor::of_f32({2, 4}, std::vector<float>{1, -2, 3, 0.5f, 2, 2, -1, 1}); }

TEST_F(BySegment, CorrectSegmentsPass) {
  ASSERT_NO_FATAL_FAILURE(compile(kChain, {"Exp", "Sigmoid", "Sqrt"}));
  const Tensor x = input();
  const auto all = checks(Liar::Lie::none, "Exp", {&x, 1});
  ASSERT_EQ(all.size(), 5u);
  for (const SegmentCheck& c : all) EXPECT_FALSE(c.bad()) << c.segment;
  EXPECT_TRUE(verdict(all));
}

TEST_F(BySegment, OnlyTheOneThatLiesIsBlamed) {
  ASSERT_NO_FATAL_FAILURE(compile(kChain, {"Exp", "Sigmoid", "Sqrt"}));
  const Tensor x = input();
  for (const auto& [op, faulty, value] : {std::tuple{"Exp", 0u, "a"}, {"Sigmoid", 2u, "c"}, {"Sqrt", 4u, "e"}}) {
    const auto all = checks(Liar::Lie::number, op, {&x, 1});
    ASSERT_EQ(all.size(), 5u);
    for (const SegmentCheck& c : all) EXPECT_EQ(c.bad(), c.segment == faulty) << op << " " << c.segment;
    EXPECT_NEAR(all[faulty].furthest->distance.largest, 0.5, 1e-5);
    const auto refused = verdict(all);
    ASSERT_FALSE(refused);
    const Diagnostic& d = *refused.error();
    EXPECT_EQ(d.code, Code::device_failed);
    EXPECT_EQ(d.place, "segment " + std::to_string(faulty) + " on 'elsewhere'");
    EXPECT_NE(d.what.find("'" + std::string(value) + "'"), std::string::npos) << d.what;
    EXPECT_NE(d.found.find("[0,1]"), std::string::npos) << d.found;
    EXPECT_NE(d.advice.find(std::string(op) + "_" + std::to_string(faulty)), std::string::npos) << d.advice;
  }
}

TEST_F(BySegment, ASegmentThatBreaksItsPromiseIsNamedToo) {
  ASSERT_NO_FATAL_FAILURE(compile(kChain, {"Exp", "Sigmoid", "Sqrt"}));
  const Tensor x = input();
  for (const auto& [lie, word] : {std::pair{Liar::Lie::shape, "shape"}, {Liar::Lie::dtype, "element type"}, {Liar::Lie::count, "number"}}) {
    const auto all = checks(lie, "Sigmoid", {&x, 1});
    for (const SegmentCheck& c : all) EXPECT_EQ(c.error.has_value(), c.segment == 2) << c.segment;
    const auto refused = verdict(all);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error()->place, "segment 2 on 'elsewhere'");
    EXPECT_NE(refused.error()->what.find(word), std::string::npos) << refused.error()->what;
  }
}

/// Sizes that other segments tell, that only data tells, and that are made of several; a constraint that names a node of another segment.
TEST_F(BySegment, SizesFromElsewhereAreKnown) {
  options_.constraints.pins = {{"Abs_4", "elsewhere"}};
  options_.opt = 0;
  ASSERT_NO_FATAL_FAILURE(compile(R"(graph main(x: f32[n,4], k: i64[m]) {
    const flat: i64[1] = [-1]
    t = Concat(x, x, axis=0) e = Exp(t) f = Reshape(e, flat) s = Sigmoid(f) h = Abs(s)
    z = NonZero(x) p = Neg(z) q = Gather(k, z) r = Exp(x) u = Concat(p, q, axis=0)
    return h, u, r
  })",
                                  {"Exp", "Sigmoid", "NonZero", "Gather", "Abs"}));
  const std::vector<Tensor> inputs = {input(), Tensor::of_i64({4}, std::vector<int64_t>{5, 6, 7, 8})};
  for (const SegmentCheck& c : checks(Liar::Lie::none, "Exp", inputs)) EXPECT_FALSE(c.bad()) << (c.error ? c.error->text() : "");
}

/// In the whole they read nothing: what they give is in the table of sizes.
TEST_F(BySegment, SizesThatTheHostMakesAreReadFromTheirOperands) {
  options_.opt = 0;
  ASSERT_NO_FATAL_FAILURE(compile("graph main(x: f32[n,4]) { e = Exp(x) s = Shape(e) y = Expand(e, s) a = Abs(y) return a, s }", {"Exp"}));
  const std::vector<Tensor> inputs = {input()};
  const auto all = checks(Liar::Lie::none, "Exp", inputs);
  EXPECT_GE(all.size(), 2u);
  for (const SegmentCheck& c : all) EXPECT_FALSE(c.bad()) << (c.error ? c.error->text() : "");
}

TEST_F(BySegment, BranchesAndSequencesCross) {
  ASSERT_NO_FATAL_FAILURE(compile(R"(graph main(c: bool[], x: f32[n]) {
    a = Exp(x)
    y = If(c) then_branch={ graph(h: f32[n]) { p = Sigmoid(h) q = Neg(p) return q } } captures=[a] else_branch={ graph(h: f32[n]) { q = Abs(h) return q } } captures=[a]
    s = SequenceConstruct(y, a)
    b = ConcatFromSequence(s, axis=0)
    d = Sqrt(b)
    return d
  })",
                                  {"Exp", "Sigmoid", "SequenceConstruct", "Sqrt"}));
  Tensor yes = *Tensor::make(DType::boolean, {});
  *yes.mutable_data() = std::byte{1};
  const std::vector<Tensor> inputs = {yes, Tensor::of_f32({3}, std::vector<float>{1, 2, 3})};
  for (const SegmentCheck& c : checks(Liar::Lie::none, "Exp", inputs)) EXPECT_FALSE(c.bad()) << (c.error ? c.error->text() : "");
}

}  // namespace
}  // namespace tenon::cli
