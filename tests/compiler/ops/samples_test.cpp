// SPDX-License-Identifier: Apache-2.0
// Every op's samples through the whole compiler, against the op's reference: fused and not, with sizes known and symbolic.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

struct Way {
  int opt;
  bool symbolic, constants;
};
constexpr Way kWays[] = {{0, false, true}, {3, true, true}, {3, false, false}};

/// What became of the samples, for the last line of the test: a sample that did not run is counted under what it needs.
struct Tally {
  int ran = 0, by_reference = 0, needs_sizes = 0, needs_values = 0, refused_at_other_sizes = 0;
  ~Tally() {
    if (ran == 0) return;
    std::printf("samples: %d runs, %d of them by reference alone; %d need a size, %d a value while compiling; %d refused at sizes 0 or 1\n",
                ran, by_reference, needs_sizes, needs_values, refused_at_other_sizes);
  }
} tally;

/// Inputs of the sample's kind in which every size over 1 is `size`.
std::vector<Tensor> inputs_at(const ops::Sample& sample, int64_t size) {
  std::vector<Tensor> inputs;
  for (const ops::SampleOperand& o : sample.operands) {
    if (!o.present || o.value) continue;
    Sizes shape = o.shape;
    for (int64_t& s : shape) s = s > 1 ? size : s;
    inputs.push_back(*ops::random_tensor(o.dtype, shape, 3 + inputs.size(), o.low, o.high));
  }
  return inputs;
}

/// The results of the reference, or an error where it has one.
void expect_like_reference(const ir::Graph& graph, runtime::Context& context, std::span<const Tensor> inputs, const std::string& text) {
  const auto want = ops::evaluate(graph, inputs);
  const auto got = testing::copied_results(context, inputs);
  if (!want && !got) {
    EXPECT_NE(got.error().code(), Code::internal) << got.error().text();
    ++tally.refused_at_other_sizes;
    return;
  }
  ASSERT_EQ(want.has_value(), got.has_value()) << "reference: " << (want ? "gives results" : want.error().text())
                                               << "\nengine: " << (got ? "gives results" : got.error().text()) << "\n"
                                               << text;
  ASSERT_EQ(got->size(), want->size());
  for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "result " << k << "\n" << text;
}

void check(const ops::OpDef& def, const ops::Sample& sample, const Way& way) {
  SCOPED_TRACE("opt " + std::to_string(way.opt) + (way.symbolic ? ", symbolic sizes" : "") + (way.constants ? "" : ", no constants"));
  auto made = ops::build_sample(def, sample, 1, way.symbolic, way.constants);
  if (!made && (way.symbolic || !way.constants) && made.error().code() == Code::not_supported) {
    ++(way.symbolic ? tally.needs_sizes : tally.needs_values);
    return;
  }
  ASSERT_TRUE(made) << made.error().text();
  const std::string text = ir::print(*made->graph);
  auto engine = testing::engine_of(made->graph->clone(), way.opt);
  ASSERT_TRUE(engine) << engine.error().text() << "\n" << text;
  auto context = runtime::Context::create(*engine);
  ASSERT_TRUE(context) << context.error().text();
  ASSERT_TRUE(ops::evaluate(*made->graph, made->inputs)) << text;
  expect_like_reference(*made->graph, **context, made->inputs, text);
  ++tally.ran;
  tally.by_reference += !def.loop_form && !def.definition;
  if (!way.symbolic) return;
  for (int64_t size : {0, 1}) {
    SCOPED_TRACE("sizes " + std::to_string(size));
    expect_like_reference(*made->graph, **context, inputs_at(sample, size), text);
  }
}

class CompiledSamples : public ::testing::TestWithParam<const ops::OpDef*> {};

TEST_P(CompiledSamples, AgreeWithTheReference) {
  const ops::OpDef& def = *GetParam();
  if (!def.deterministic) return;
  for (std::string_view text : def.samples) {
    SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
    auto sample = ops::parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    for (const Way& way : kWays) check(def, *sample, way);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, CompiledSamples, ::testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const ::testing::TestParamInfo<const ops::OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

}  // namespace
}  // namespace tenon::compiler
