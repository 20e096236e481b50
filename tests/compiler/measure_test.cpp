// SPDX-License-Identifier: Apache-2.0
// Plans by measured times, with an engine runner of the test that computes times from programs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "compiler/load.h"
#include "compiler/measure/engine_runner.h"
#include "compiler/measure/timing_cache.h"
#include "helpers.h"

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kText = R"(graph main(x: f32[n,4]) {
  a = Relu(x)
  b = Exp(a)
  c = Sqrt(b)
  y = Neg(c)
  return y
})";

/// Computes the time of an engine from the steps of its program.
class ComputedTimes final : public EngineRunner {
 public:
  using Time = std::function<std::optional<double>(const runtime::Program&)>;
  explicit ComputedTimes(Time time) : time_(std::move(time)) {}
  Result<std::vector<std::optional<double>>> time(std::span<const fs::path> engines) override {
    std::vector<std::optional<double>> out;
    for (const fs::path& file : engines) out.push_back(time_(TRY(load(file))->program()));
    timed += engines.size();
    return out;
  }
  size_t timed = 0;

 private:
  Time time_;
};

bool has_segment(const runtime::Program& program) { return !program.blobs.empty(); }

class Measure : public ::testing::Test {
 protected:
  Measure() : folder_(fs::temp_directory_path() / ("tenon-measure-" + std::to_string(getpid()))) { fs::create_directories(folder_); }
  ~Measure() override { fs::remove_all(folder_); }

  CompileOptions options(std::shared_ptr<EngineRunner> runner) const {
    CompileOptions out;
    out.opt = 0;
    out.backends = *backends_named(std::vector<std::string>{"reference", "cpu"});
    out.constraints.listed = 2;
    out.constraints.assign = partition::Assign::cost;
    auto measuring = std::make_shared<MeasureOptions>();
    *measuring = {std::move(runner), folder_, folder_ / "times"};
    out.measuring = measuring;
    return out;
  }
  /// The backends of the graph's nodes, in its order.
  std::string plan(std::shared_ptr<EngineRunner> runner) const { return plan(options(std::move(runner))); }
  std::string plan(const CompileOptions& with) const {
    const auto partitioned = partition_graph(*ir::parse(kText, ops::table()), with);
    if (!partitioned) return partitioned.error().text();
    std::string out;
    for (const partition::NodePlacement& n : partitioned->partition.nodes)
      out += std::string(partitioned->backends.all[n.backend]->name()) + " ";
    return out;
  }

  fs::path folder_;
};

TEST_F(Measure, TheFasterBackendRunsAllWhateverItGuesses) {
  const auto fast_reference = [](const runtime::Program& p) {
    return has_segment(p) ? 100.0 : 1000.0 * static_cast<double>(p.steps.size());
  };
  EXPECT_EQ(plan(std::make_shared<ComputedTimes>(fast_reference)), "reference reference reference reference ");
  fs::remove(folder_ / "times");
  const auto fast_cpu = [](const runtime::Program& p) { return has_segment(p) ? 5000.0 : 100.0; };
  EXPECT_EQ(plan(std::make_shared<ComputedTimes>(fast_cpu)), "cpu cpu cpu cpu ");
}

/// The op that kernels are slow at goes elsewhere, and the plan over both is faster than either.
TEST_F(Measure, AMixedPlanIsKeptWhereItIsFaster) {
  const auto time = [](const runtime::Program& p) {
    double ns = 100;
    for (const runtime::Step& s : p.steps) {
      const bool kernel = runtime::is<runtime::KernelStep>(s);
      ns += kernel ? (s.label.find("Sqrt") != std::string::npos ? 90'000 : 1'000)
                   : 10'000.0 * static_cast<double>(1 + std::ranges::count(s.label, '+'));
    }
    return ns;
  };
  const std::string mixed = plan(std::make_shared<ComputedTimes>(time));
  EXPECT_NE(mixed.find("reference"), mixed.npos) << mixed;
  EXPECT_NE(mixed.find("cpu"), mixed.npos) << mixed;
}

TEST_F(Measure, AnEngineThatDoesNotRunIsNoChoice) {
  const auto time = [](const runtime::Program& p) { return has_segment(p) ? std::nullopt : std::optional(1e6); };
  EXPECT_EQ(plan(std::make_shared<ComputedTimes>(time)), "cpu cpu cpu cpu ");
}

/// It may take a minute each time.
TEST_F(Measure, AnEngineThatDoesNotRunGetsNoOtherTry) {
  std::map<std::string, int> tries;
  const auto time = [&](const runtime::Program& p) {
    if (!has_segment(p)) return std::optional(1e6);
    std::string of;
    for (const runtime::Step& s : p.steps) of += s.label + "; ";
    ++tries[of];
    return std::optional<double>();
  };
  EXPECT_EQ(plan(std::make_shared<ComputedTimes>(time)), "cpu cpu cpu cpu ");
  EXPECT_FALSE(tries.empty());
  for (const auto& [of, count] : tries) EXPECT_LE(count, 1 + (of.find("+") == of.npos)) << of;
}

TEST_F(Measure, WhatWasMeasuredIsNotMeasuredAgain) {
  const auto time = [](const runtime::Program& p) { return 100.0 * static_cast<double>(p.steps.size()); };
  const auto first = std::make_shared<ComputedTimes>(time), second = std::make_shared<ComputedTimes>(time);
  const std::string before = plan(first);
  EXPECT_GT(first->timed, 8u);
  EXPECT_EQ(plan(second), before);
  EXPECT_EQ(second->timed, 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "engines that were timed are gone";
}

TEST_F(Measure, TimesOfOtherKernelsDoNotCount) {
  const auto time = [](const runtime::Program& p) { return 100.0 * static_cast<double>(p.steps.size()); };
  const auto times_again = [&](const CompileOptions& with) {
    const auto again = std::make_shared<ComputedTimes>(time);
    CompileOptions asked = with;
    asked.measuring = options(again).measuring;
    plan(asked);
    return again->timed > 0;
  };
  const CompileOptions plain = options(nullptr);
  CompileOptions without = plain, for_avx2 = plain, rounded = plain;
  without.off.emplace("winograd");
  for_avx2.target = *codegen::target_named("x86_avx2");
  rounded.precision = codegen::Precision::bf16;
  EXPECT_TRUE(times_again(plain));
  EXPECT_TRUE(times_again(without));
  EXPECT_TRUE(times_again(for_avx2));
  if (codegen::check_precision(rounded.precision, **codegen::target_for())) EXPECT_TRUE(times_again(rounded));
  for (const CompileOptions& known : {plain, without, for_avx2}) EXPECT_FALSE(times_again(known));
}

TEST_F(Measure, LinesThatAreNoTimesArePassedOver) {
  const fs::path path = folder_ / "lines";
  const Hash128 one = hash128("one"), two = hash128("two");
  ASSERT_TRUE(TimingCache(path).add(one, 12));
  std::ofstream(path, std::ios::app) << two.text() << " nan\n" << two.text() << " -1\n" << two.text() << " 3x\n\nshort 4\n" << two.text();
  const TimingCache read(path);
  EXPECT_EQ(read.find(one), 12);
  EXPECT_EQ(read.find(two), std::nullopt);
}

/// The reference, without f64.
class Short final : public backend::Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    for (const ir::Type& type : graph.view(node).outputs)
      if (type.dtype == DType::f64) return fail(Code::not_supported, "", "no f64");
    return base_.supports(graph, node);
  }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    return base_.compile(request, options);
  }

 private:
  const backend::Backend& base_ = *backends_named()->back();
};

/// Where the fallback is faster, nothing is narrowed for nobody.
TEST_F(Measure, NodesAreInNarrowerTypesOnlyForWhoNeedsThem) {
  const Short lacks;
  for (const bool fast : {true, false}) {
    CompileOptions with =
        options(std::make_shared<ComputedTimes>([&](const runtime::Program& p) { return has_segment(p) == fast ? 1000.0 : 1e6; }));
    with.backends = {&lacks, *backends_named()->begin()};
    with.constraints.narrow = {{DType::f64, DType::f32}};
    fs::remove(folder_ / "times");
    const auto partitioned =
        partition_graph(*ir::parse("graph main(x: f64[4]) { a = Exp(x) b = Neg(a) c = Abs(b) return c }", ops::table()), with);
    ASSERT_TRUE(partitioned) << partitioned.error().text();
    std::string out;
    for (const ir::NodeId n : partitioned->graph->nodes())
      out += partitioned->graph->node(n).op->name + "." +
             std::string(name_of(partitioned->graph->value(partitioned->graph->node(n).outputs[0]).type.dtype)) + " ";
    EXPECT_EQ(out, fast ? "Cast.f32 Exp.f32 Neg.f32 Abs.f32 Cast.f64 " : "Exp.f64 Neg.f64 Abs.f64 ");
    EXPECT_EQ(partitioned->partition.nodes.size(), fast ? 5u : 3u);
    for (const partition::NodePlacement& n : partitioned->partition.nodes)
      if (!fast) EXPECT_EQ(partitioned->backends.all[n.backend]->name(), "cpu");
  }
}

}  // namespace
}  // namespace tenon::compiler
