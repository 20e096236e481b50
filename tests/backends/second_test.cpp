// SPDX-License-Identifier: Apache-2.0
// A second backend that generates code: it owns plan, code and arena of its segments.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "../compiler/helpers.h"
#include "../compiler/random/random_graphs.h"
#include "../compiler/seeds.h"
#include "compiler/save.h"
#include "compiler/targets/target_options.h"
#include "ops/reference/evaluate.h"
#include "ops/reference/stateful_run.h"
#include "runtime/kernel_blob/kernel_blob.h"
#include "runtime/load.h"
#include "second/comparison.h"

namespace tenon::tests {
namespace {

compiler::CompileOptions at_level(int opt) {
  compiler::CompileOptions out;
  out.opt = opt;
  return out;
}

bool takes_all(const ir::Graph&, ir::NodeId) { return true; }

constexpr std::string_view kText =
    "graph main(x: f32[n,4]) { const w: f32[4,3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] a = Exp(x) p = MatMul(a, w) "
    "q = Softmax(p) z = NonZero(q) return q, z }";

/// Of a graph with inputs of rows alone.
void expect_equal_bits(SecondAndTwin& both, const ir::Graph& graph, std::span<const Tensor> inputs) {
  EXPECT_EQ(both.difference(inputs), "") << ir::print(graph);
  const auto want = ops::evaluate(graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto got = compiler::testing::copied_results(both.context(), inputs);
  ASSERT_TRUE(got) << got.error().text();
  for (size_t k = 0; k < want->size(); ++k)
    EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k], 20), "") << "result " << k << "\n" << ir::print(graph);
}

TEST(SecondBackend, DynamicShapesEqualCpuBitForBit) {
  const auto graph = graph_of(kText);
  for (int opt : {0, 3}) {
    SecondAndTwin both(takes_all, at_level(opt));
    const auto made = both.make(*graph);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(both.segments(), 1u);
    EXPECT_EQ(both.failed_segments(), 0u);
    EXPECT_TRUE(both.compiled_twice().empty()) << fmt::format("{}", fmt::join(both.compiled_twice(), ", "));
    EXPECT_EQ(both.second().compiled(), (std::set<std::string>{"a", "p", "q"}));
    for (int64_t rows : {3, 1, 200, 3}) {
      const Tensor x = rows_of(rows);
      expect_equal_bits(both, *graph, {&x, 1});
    }
  }
}

/// Sizes that only data gives reach a segment as those of its operands.
TEST(SecondBackend, DataDependentShapesEqualCpuBitForBit) {
  const auto graph =
      graph_of("graph main(x: f32[n]) { z = NonZero(x) const f: f32[] = 0.5 c = Cast(z, to=1) d = Mul(c, f) e = Exp(d) return e }");
  SecondAndTwin both(takes_all, at_level(3));
  const auto made = both.make(*graph);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(both.segments(), 1u);
  for (std::vector<float> data : {std::vector<float>{1, 0, 2, 3}, {0, 0}, {5}}) {
    const Tensor x = Tensor::of_f32({static_cast<int64_t>(data.size())}, data);
    expect_equal_bits(both, *graph, {&x, 1});
  }
}

TEST(SecondBackend, BodiesOfBranchesAndLoopsRunSegments) {
  const auto graph = graph_of(R"(graph main(x: f32[n,4], c: bool[], m: i64[]) {
    y = If(c) then_branch={ graph(t: f32[n,4]) { a = Exp(t) b = Neg(a) return b } } captures=[x]
      else_branch={ graph(t: f32[n,4]) { d = Tanh(t) return d } } captures=[x]
    s, rows = Loop(m, _, y) body={ graph(i: i64[], go: bool[], v: f32[n,4], w: f32[n,4]) { q = Sin(v) u = Add(q, w) return go, u, q } }
      captures=[x]
    return s, rows })");
  ASSERT_NE(graph, nullptr);
  SecondAndTwin both(takes_all, at_level(3));
  const auto made = both.make(*graph);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_GE(both.segments(), 3u);
  EXPECT_TRUE(both.compiled_twice().empty()) << fmt::format("{}", fmt::join(both.compiled_twice(), ", "));
  for (bool branch : {true, false})
    for (int64_t times : {1, 5}) {
      const Tensor inputs[] = {rows_of(3 + times), Tensor::scalar(DType::boolean, branch),
                               Tensor::scalar(DType::i64, static_cast<double>(times))};
      expect_equal_bits(both, *graph, inputs);
    }
}

/// `h` is the size of no operand of the second segment, whose own sizes are made of it.
TEST(SecondBackend, SizesOfNoOperandComeFromTheProgramAround) {
  const auto graph = graph_of(
      "graph main(x: f32[1,2,h,8]) { a = MaxPool(x, kernel_shape=[2,2], strides=[2,2]) b = Erf(a) "
      "c = MaxPool(b, kernel_shape=[3,3], strides=[2,2]) d = Exp(c) return d }");
  const auto is_not_erf = [](const ir::Graph& g, ir::NodeId n) { return !g.node(n).is("Erf"); };
  for (int opt : {0, 3}) {
    SecondAndTwin both(is_not_erf, at_level(opt));
    const auto made = both.make(*graph);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(both.segments(), 2u);
    EXPECT_EQ(both.failed_segments(), 0u);
    for (int64_t h : {9, 30, 31, 9}) {
      Tensor x = *Tensor::make(DType::f32, {1, 2, h, 8});
      for (int64_t i = 0; i < x.count(); ++i) x.set_number(i, 0.01 * static_cast<double>(i % 89) - 0.4);
      expect_equal_bits(both, *graph, {&x, 1});
    }
  }
}

/// The host owns a state; segments read its value and make the new one, in each step with another length.
TEST(SecondBackend, ModelsWithStatesEqualCpuBitForBit) {
  const auto graph = graph_of(
      "graph(x: f32[1,2,n,4], past: f32[1,2,p,4], m: f32[4]) { now = Concat(past, x, axis=2) t = Transpose(now, perm=[0,1,3,2]) "
      "s = MatMul(x, t) a = Softmax(s) y = MatMul(a, now) const axes: i64[3] = [0, 1, 2] r = ReduceMax(y, axes, keepdims=0) n = Add(m, r) "
      "state past(past) = now grows 2 to 16 state m(m) = n return y, now, n }");
  const auto is_no_concat = [](const ir::Graph& g, ir::NodeId n) { return !g.node(n).is("Concat"); };
  for (Takes takes : {Takes(is_no_concat), Takes(takes_all)}) {
    SecondAndTwin both(takes, at_level(3));
    const auto made = both.make(*graph);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_GE(both.segments(), 1u);
    EXPECT_EQ(both.failed_segments(), 0u) << both.failed_segments_text();
    ops::StatefulRun reference;
    for (const int64_t rows : {3, 1, 1, 2}) {
      Tensor x = *Tensor::make(DType::f32, {1, 2, rows, 4});
      for (int64_t i = 0; i < x.count(); ++i) x.set_number(i, 0.03 * static_cast<double>((i + 7 * rows) % 31) - 0.4);
      ASSERT_EQ(both.difference({&x, 1}), "") << rows;
      const auto want = reference.step(*graph, {&x, 1});
      ASSERT_TRUE(want) << want.error().text();
      const auto value = both.context().state_value(0);
      ASSERT_TRUE(value) << value.error().text();
      EXPECT_EQ(compiler::testing::difference(*reference.state("past"), *value), "");
    }
  }
}

/// The system refuses to read it, as it refuses the host.
bool is_readable(const std::byte* memory) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const ssize_t written = write(ends[1], memory, 1);
  EXPECT_TRUE(written == 1 || errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return written == 1;
}

TEST(SecondBackend, ArenaIsClosedOutsideOfRuns) {
  const auto graph = graph_of(kText);
  SecondAndTwin both(takes_all, at_level(3));
  ASSERT_TRUE(both.make(*graph));
  const Tensor x = rows_of(50);
  ASSERT_EQ(both.difference({&x, 1}), "");
  size_t pieces = 0, runs = 0;
  for (const auto& weak : both.device().arenas())
    if (const auto arena = weak.lock()) {
      runs += arena->runs();
      for (const auto& [memory, bytes] : arena->pieces()) {
        ++pieces;
        EXPECT_FALSE(is_readable(memory));
        EXPECT_FALSE(is_readable(memory + bytes - 1));
      }
    }
  EXPECT_GE(pieces, 3u);  // weights, operand, results
  EXPECT_EQ(runs, 2u);    // weights are copied in one of their own
  EXPECT_DEATH(
      {
        const auto arena = both.device().arenas().back().lock();
        const volatile std::byte* first = arena ? arena->pieces().begin()->first : nullptr;
        (void)*first;
      },
      "");
}

TEST(SecondBackend, SavedEngineBringsProgramAndCode) {
  const auto graph = graph_of(kText);
  const Second second;
  const backend::Backends usual = *compiler::backends_named();
  compiler::CompileOptions options = at_level(3);
  options.backends = {&second, usual[0], usual[1]};
  options.constraints.listed = 2;
  auto made = compiler::compile(graph->clone(), options);
  ASSERT_TRUE(made) << made.error().text();
  const auto path = std::filesystem::temp_directory_path() / fmt::format("second_{}.tenon", getpid());
  ASSERT_TRUE(compiler::save(*made, options, path));
  runtime::Devices devices = compiler::all_devices(ops::table());
  devices.push_back(std::make_shared<SecondDevice>());
  const auto engine = runtime::load_engine(path, {.devices = devices});
  std::filesystem::remove(path);
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  const Tensor x = rows_of(7);
  const auto want = ops::evaluate(*graph, {&x, 1});
  const auto got = compiler::testing::copied_results(**context, {&x, 1});
  ASSERT_TRUE(got) << got.error().text();
  for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k]), "");
}

TEST(SecondBackend, ChosenTargetIsThatOfTheCode) {
  const Second second;
  backend::Options options;
  const auto graph = graph_of("graph main(x: f32[n]) { y = Exp(x) return y }");
  const auto tag_of = [&] {
    const auto blob = std::get<backend::Blob>(*second.compile({*graph}, options));
    return runtime::decode_kernel_blob(blob.bytes)->code.at(0).target;
  };
  EXPECT_EQ(tag_of(), 1u);
  options.targets["second"] = *codegen::target_named("x86_avx512");
  EXPECT_EQ(tag_of(), 2u);
  options.targets = {{"another", *codegen::target_named("x86_avx512")}};
  EXPECT_EQ(tag_of(), 1u);
}

// --target BACKEND=TARGET.

class TargetOptions : public testing::Test {
 protected:
  Result<compiler::CompileOptions> read(const std::vector<std::string>& texts, bool with_second = true) const {
    compiler::CompileOptions out;
    if (with_second) out.backends = {&second_, usual_[0], usual_[1]};
    TRY(compiler::read_targets(texts, out));
    return out;
  }
  const Second second_;
  const backend::Backends usual_ = *compiler::backends_named();
};

TEST_F(TargetOptions, AreThoseOfTheHostOrOfANamedBackend) {
  const auto options = read({"x86_avx2", "second=x86_avx512"});
  ASSERT_TRUE(options) << options.error().text();
  EXPECT_EQ(options->target->name, "x86_avx2");
  EXPECT_EQ(options->targets.at("second")->name, "x86_avx512");
  EXPECT_EQ(read({"cpu=x86_avx512"})->target->name, "x86_avx512");
  EXPECT_EQ(read({})->target, nullptr);
}

TEST_F(TargetOptions, RefuseWhatIsNotThere) {
  const auto expect_refused = [](const Result<compiler::CompileOptions>& got, std::string_view what, std::string_view advice) {
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Code::bad_usage);
    EXPECT_NE(got.error()->what.find(what), std::string::npos) << got.error().text();
    EXPECT_NE(got.error()->advice.find(advice), std::string::npos) << got.error().text();
  };
  expect_refused(read({"x86_avx1"}), "no such target", "");
  expect_refused(read({"second=x86_avx1"}), "no such target", "");
  expect_refused(read({"secnd=x86_avx2"}), "no backend of this build that generates code", "did you mean 'second'?");
  expect_refused(read({"second=x86_avx2"}, false), "no backend of this build that generates code", "--backend");
  expect_refused(read({"reference=x86_avx2"}), "no backend of this build that generates code", "");
  expect_refused(read({"x86_avx2", "cpu=x86_avx512"}), "has a target already", "");
  expect_refused(read({"second=x86_avx2", "second=x86_avx2"}), "has a target already", "");
}

// Tensors in the memory of a device.

Tensor on_device(const Tensor& t) { return Tensor::view(t.dtype(), t.shape(), t.data(), t.keeper(), {"second", 3}); }

void expect_not_on_host(const Error& error, std::string_view place) {
  EXPECT_EQ(error.code(), Code::not_supported) << error.text();
  EXPECT_EQ(error->place, place) << error.text();
  EXPECT_EQ(error->found, "memory of device 'second' 3") << error.text();
  EXPECT_EQ(error->expected, "host memory") << error.text();
}

/// `second`, whose results stay on it.
class Keeps final : public runtime::Device {
 public:
  std::string_view name() const override { return "second"; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    return std::make_unique<Kept>(TRY(of_->make(blob)));
  }

 private:
  class Kept final : public runtime::Segment {
   public:
    explicit Kept(std::unique_ptr<runtime::Segment> of) : of_(std::move(of)) {}
    Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                    const runtime::RunOptions& options) override {
      std::vector<Tensor> out = TRY(of_->run(operands, places, options));
      for (Tensor& t : out) t = on_device(t);
      return out;
    }

   private:
    std::unique_ptr<runtime::Segment> of_;
  };
  std::shared_ptr<runtime::Device> of_ = std::make_shared<SecondDevice>();
};

TEST(MemoryPlace, ResultThatStaysOnADeviceIsAnErrorOfItsStep) {
  const Second second;
  const backend::Backends usual = *compiler::backends_named();
  compiler::CompileOptions options = at_level(3);
  options.backends = {&second, usual[0], usual[1]};
  options.constraints.listed = 2;
  auto made = compiler::compile(graph_of("graph main(x: f32[n,4]) { y = Exp(x) return y }"), options);
  ASSERT_TRUE(made) << made.error().text();
  auto context = runtime::Context::create(*compiler::load_compiled(*std::move(made), {std::make_shared<Keeps>()}));
  const Tensor x = rows_of(2);
  const auto got = (*context)->run({&x, 1});
  ASSERT_FALSE(got);
  expect_not_on_host(got.error(), "node 'y' (Exp)");
}

TEST(MemoryPlace, InputOutsideOfHostMemoryIsRefused) {
  const auto graph = graph_of("graph main(x: f32[n,4]) { y = Exp(x) return y }");
  const Tensor x = on_device(rows_of(2));
  const auto evaluated = ops::evaluate(*graph, {&x, 1});
  ASSERT_FALSE(evaluated);
  expect_not_on_host(evaluated.error(), "input 'x'");
  auto context = runtime::Context::create(*compiler::load_compiled(*compiler::compile(graph->clone(), at_level(3))));
  const auto ran = (*context)->run({&x, 1});
  ASSERT_FALSE(ran);
  expect_not_on_host(ran.error(), "input 'x'");
}

/// TENON_GRAPHS=2000 runs that many (seeds.h).
TEST(SecondBackend, RandomSharesOfRandomGraphsEqualCpuBitForBit) {
  size_t segments = 0, failed_segments = 0, graphs = 0;
  each_seed(200, [&](uint64_t seed) {
    SCOPED_TRACE("TENON_SEED=" + std::to_string(seed));
    const auto graph = RandomGraph(seed).grow(4 + seed % 14);
    for (ir::ValueId v : graph->values())
      if (graph->value(v).name.empty()) graph->set_name(v, fmt::format("value{}", v.slot()));
    SecondAndTwin both(random_share(seed, 20 + seed * 7 % 75), at_level(seed % 2 == 0 ? 0 : 3));
    const auto made = both.make(*graph);
    ASSERT_TRUE(made) << made.error().text() << "\n" << ir::print(*graph);
    ASSERT_TRUE(both.compiled_twice().empty()) << fmt::format("{}", fmt::join(both.compiled_twice(), ", "));
    segments += both.segments(), failed_segments += both.failed_segments(), ++graphs;
    for (int64_t batch : {3, 1, 17}) expect_equal_bits(both, *graph, random_inputs(*graph, batch, seed));
  });
  if (!one_seed()) EXPECT_GT(segments, graphs);
  RecordProperty("segments", static_cast<int>(segments));
  fmt::print("{} graphs, {} segments on second, {} handed back\n", graphs, segments, failed_segments);
}

}  // namespace
}  // namespace tenon::tests
