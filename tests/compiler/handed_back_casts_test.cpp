// SPDX-License-Identifier: Apache-2.0
// Segments that a backend hands back lose the Casts that only it needed.
#include <gtest/gtest.h>

#include <set>

#include "compiler/load.h"
#include "every_other.h"
#include "helpers.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

/// Has no f16, and compiles no segment in which there is one of some ops.
class Lame final : public backend::Backend {
 public:
  Lame(std::string name, const backend::Backend& base, std::set<std::string> fails)
      : name_(std::move(name)), base_(base), fails_(std::move(fails)) {}
  std::string_view name() const override { return name_; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const ir::Node& n = graph.node(node);
    for (const auto* values : {&n.inputs, &n.outputs})
      for (ir::ValueId v : *values)
        if (v && graph.value(v).type.dtype == DType::f16) return fail(Code::not_supported, "", "no f16");
    if (!n.bodies.empty()) return fail(Code::not_supported, "", "no bodies");
    return base_.supports(graph, node);
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    for (ir::NodeId n : request.graph.nodes())
      if (fails_.contains(request.graph.node(n).op->name)) return fail(Code::not_supported, "", "no room");
    return base_.compile(request, options);
  }

 private:
  std::string name_;
  const backend::Backend& base_;
  std::set<std::string> fails_;
};

std::string text_of(const ir::Graph& graph, const partition::Partition& partition) {
  std::string out;
  for (const ir::Segment& s : partition.segments) {
    out += (out.empty() ? "" : " | ") + s.backend + ":";
    for (ir::NodeId n : s.nodes)
      out += " " + graph.node(n).op->name + "(" + std::string(name_of(graph.value(graph.node(n).outputs[0]).type.dtype)) + ")";
  }
  for (const partition::NodePlacement& n : partition.nodes)
    for (size_t b = 0; b < n.bodies.size(); ++b) out += " [" + text_of(*graph.node(n.node).bodies[b].graph, n.bodies[b]) + "]";
  return out;
}

class HandedBackCasts : public ::testing::Test {
 protected:
  /// Who runs what in the end; the results are those of the reference.
  std::string settled(std::string_view text, backend::Backends backends, const std::vector<Tensor>& inputs, size_t failed_segments) {
    CompileOptions options;
    options.opt = 0;
    options.verify = true;
    options.constraints.listed = backends.size() + 1;
    options.backends = std::move(backends);
    options.backends.insert(options.backends.end(), {all_[0], all_[1]});
    auto compiled = compile(*ir::parse(text, ops::table()), options);
    if (!compiled) return compiled.error().text();
    EXPECT_EQ(compiled->failed_segments.size(), failed_segments);
    const std::string out = text_of(*compiled->graph, compiled->partition);
    const auto engine =
        load_compiled(*std::move(compiled), {std::make_shared<tests::Renamed>("lame"), std::make_shared<tests::Renamed>("second")});
    EXPECT_TRUE(engine) << engine.error().text();
    const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs);
    const auto got = testing::copied_results(**runtime::Context::create(*engine), inputs);
    EXPECT_TRUE(got) << got.error().text();
    for (size_t k = 0; got && k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "");
    return out;
  }

  static Tensor halves() {
    Tensor out = *Tensor::make(DType::f16, {4});
    for (int64_t i = 0; i < 4; ++i) out.set_number(i, 0.25 * static_cast<double>(i) - 0.5);
    return out;
  }

  const backend::Backends all_ = *backends_named();
};

constexpr std::string_view kText = "graph main(x: f16[4]) { a = Neg(x) b = Exp(a) return b }";

TEST_F(HandedBackCasts, GoWithTheSegment) {
  const Lame lame("lame", *all_[1], {"Exp"}), well("lame", *all_[1], {});
  EXPECT_EQ(settled(kText, {&well}, {halves()}, 0), "cpu: Cast(f32) | lame: Neg(f32) Exp(f32) | cpu: Cast(f16)");
  EXPECT_EQ(settled(kText, {&lame}, {halves()}, 1), "cpu: Neg(f16) Exp(f16)");
}

TEST_F(HandedBackCasts, OfOtherSegmentsStay) {
  const Lame lame("lame", *all_[1], {"Exp"});
  constexpr std::string_view kTwo = R"(graph main(x: f16[4], w: f16[4]) {
    a = Neg(x) b = Exp(a) s = SequenceConstruct(b) c = ConcatFromSequence(s, axis=0) d = Abs(w) e = Add(c, d) return e })";
  EXPECT_EQ(settled(kTwo, {&lame}, {halves(), halves()}, 1),
            "cpu: Neg(f16) Exp(f16) Abs(f16) Cast(f32) | reference: SequenceConstruct(f16) ConcatFromSequence(f16) | cpu: Cast(f32) | "
            "lame: Add(f32) | cpu: Cast(f16)");
}

TEST_F(HandedBackCasts, AreMadeForTheNextThatLacksTheType) {
  const Lame lame("lame", *all_[1], {"Exp"}), second("second", *all_[1], {});
  EXPECT_EQ(settled(kText, {&lame, &second}, {halves()}, 1), "cpu: Cast(f32) | second: Neg(f32) Exp(f32) | cpu: Cast(f16)");
  const Lame both("second", *all_[1], {"Exp"});
  EXPECT_EQ(settled(kText, {&lame, &both}, {halves()}, 2), "cpu: Neg(f16) Exp(f16)");
}

TEST_F(HandedBackCasts, OfBodiesToo) {
  const Lame lame("lame", *all_[1], {"Exp"});
  const auto text = R"(graph main(c: bool[], x: f16[4]) {
    y = If(c) then_branch={ graph(h: f16[4]) { p = Exp(h) return p } } captures=[x]
      else_branch={ graph(h: f16[4]) { q = Neg(h) return q } } captures=[x]
    return y })";
  EXPECT_EQ(settled(text, {&lame}, {Tensor::scalar(DType::boolean, 1), halves()}, 1),
            "cpu: If(f16) [cpu: Exp(f16)] [cpu: Cast(f32) | lame: Neg(f32) | cpu: Cast(f16)]");
}

}  // namespace
}  // namespace tenon::compiler
