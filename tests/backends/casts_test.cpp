// SPDX-License-Identifier: Apache-2.0
// Every sample of every op that a backend whose library is here refuses for its element types: between Casts, against the reference, within
// the bounds of its own types; where the user lets types be narrowed, of those.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../compiler/helpers.h"
#include "../partition/typed_graphs.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "peers.h"

namespace tenon::tests {
namespace {

/// OpenVINO's NaN where a mask hides a whole row: of the segment of plain ops in f32, each of which is right alone.
constexpr std::string_view kHiddenRow = "f64[1,2,3,4], f64[1,2,3,4], f64[1,2,3,4], bool[3,3] = [0,0,0,1,0,1,1,1,1]";

class BackendCasts : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    backends_ = with_peer(GetParam());
    if (backends_.empty()) GTEST_SKIP() << "needs the library of " << GetParam();
  }

  /// By what is allowed beside wider types.
  void run(std::vector<partition::Narrowing> narrow, size_t at_least) {
    constraints_.narrow = std::move(narrow);
    for (const ops::OpDef* def : ops::all_ops())
      for (std::string_view text : def->samples) {
        SCOPED_TRACE(fmt::format("{}: {}", def->name, text));
        const size_t before = repaired_;
        if (GetParam() != "openvino" || !text.starts_with(kHiddenRow)) check(*def, text);
        if (GetParam() == "openvino" && repaired_ > before) break;  // of each op one sample: it takes long to compile
      }
    std::printf("%s refuses %zu samples with such types; for them, with sizes known and not known, %zu:%s\n", GetParam().c_str(), refused_,
                repaired_, ops_.c_str());
    EXPECT_GE(repaired_, at_least);
  }

  compiler::CompileOptions options() const {
    compiler::CompileOptions out;
    out.opt = 0;
    out.registry = peers();
    out.backends = backends_;
    out.constraints = constraints_;
    out.constraints.listed = 2;  // the rest is for what cpu does not run
    return out;
  }

  /// Whether the backend runs a node in other types than its own.
  bool is_repaired(const ir::Graph& graph, const partition::Partition& partition) const {
    return std::ranges::any_of(partition.nodes, [&](const partition::NodePlacement& n) {
      const ir::Retyping* const retyping = graph.node(n.node).retyping();
      return retyping && !retyping->is_inserted_cast() && backends_[n.backend]->name() == GetParam();
    });
  }
  bool may_be_repaired(const ir::Graph& graph) const {
    const auto partitioned = compiler::partition_graph(graph.clone(), options());
    EXPECT_TRUE(partitioned) << partitioned.error().text();
    return partitioned && is_repaired(*partitioned->graph, partitioned->partition);
  }

  void check(const ops::SampleCase& made) {
    auto compiled = compiler::compile(made.graph->clone(), options());
    ASSERT_TRUE(compiled) << compiled.error().text();
    if (!is_repaired(*compiled->graph, compiled->partition)) return;  // a segment that it handed back
    ++repaired_;
    const auto want = ops::evaluate(*made.graph, made.inputs);
    ASSERT_TRUE(want) << want.error().text();
    auto context = runtime::Context::create(*compiler::load_compiled(*std::move(compiled)));
    ASSERT_TRUE(context) << context.error().text();
    const auto got = compiler::testing::copied_results(**context, made.inputs);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(got->size(), want->size());
    for (size_t k = 0; k < want->size(); ++k) {
      const bool may_lose = !constraints_.narrow.empty() && (*want)[k].dtype() == DType::f64;
      const double factor = may_lose ? compiler::testing::tolerance_of(DType::f32) / compiler::testing::tolerance_of(DType::f64) : 1;
      EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k], factor), "") << "result " << k;
    }
  }

  /// Types that might help: of less than 32 bits, or those that may be narrowed. To ask for all takes OpenVINO a minute.
  bool has_other_types(const ops::SampleCase& made) const {
    return std::ranges::any_of(made.graph->values(), [&](ir::ValueId v) {
      const DType type = made.graph->value(v).type.dtype;
      if (constraints_.narrow.empty()) return type != DType::boolean && bits_of(type) > 0 && bits_of(type) < 32;
      return type == DType::f64 || type == DType::i64;
    });
  }

  /// With sizes that are not known too, where it is repaired at all.
  void check(const ops::OpDef& def, std::string_view text) {
    const auto sample = ops::parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    const auto made = ops::build_sample(def, *sample, 1);
    if (!made || !has_other_types(*made) || backends_[0]->supports(*made->graph, made->node)) return;
    ++refused_;
    const size_t before = repaired_;
    if (!may_be_repaired(*made->graph)) return;
    check(*made);
    if (repaired_ == before) return;
    ops_ += fmt::format(" {}", def.name);
    if (GetParam() == "openvino") return;
    if (const auto symbolic = ops::build_sample(def, *sample, 1, true)) check(*symbolic);
  }

  backend::Backends backends_;
  partition::Constraints constraints_;
  size_t refused_ = 0, repaired_ = 0;
  std::string ops_;
};

TEST_P(BackendCasts, ToWiderTypesAgreeWithTheReference) { run({}, GetParam() == "onnxruntime" ? 28 : 2); }

TEST_P(BackendCasts, ToNarrowerTypesAgreeWithinTheirBounds) {
  run({{DType::f64, DType::f32}, {DType::i64, DType::i32}}, GetParam() == "onnxruntime" ? 90 : 100);
}

/// Between nodes nothing is rounded that was, so that errors of all roundings on the way count.
TEST_P(BackendCasts, RandomGraphsLieWithinTheirBounds) {
  constraints_.narrow = {{DType::f64, DType::f32}};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::string text = partition::TypedGraphs(seed).write(16, {DType::bf16, DType::f16, DType::f32, DType::f64});
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const auto graph = *ir::parse(text, ops::table());
    const auto inputs = partition::inputs_of(*graph, seed, 2);
    const auto want = ops::evaluate(*graph, inputs);
    auto compiled = compiler::compile(graph->clone(), options());
    ASSERT_TRUE(compiled) << compiled.error().text();
    repaired_ += is_repaired(*compiled->graph, compiled->partition);
    auto context = runtime::Context::create(*compiler::load_compiled(*std::move(compiled)));
    ASSERT_TRUE(context) << context.error().text();
    const auto got = compiler::testing::copied_results(**context, inputs);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) {
      ASSERT_EQ((*got)[k].dtype(), (*want)[k].dtype());
      const double factor = 4 * compiler::testing::tolerance_of(DType::bf16) / compiler::testing::tolerance_of((*want)[k].dtype());
      EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k], factor), "") << "result " << k;
    }
  }
  EXPECT_GT(repaired_, 20u);
}

INSTANTIATE_TEST_SUITE_P(Peers, BackendCasts, testing::Values("onnxruntime", "openvino"), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tenon::tests
