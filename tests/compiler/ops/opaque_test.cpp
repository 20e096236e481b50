// SPDX-License-Identifier: Apache-2.0
// Which ops run by reference: those with floating-point results that docs/opaque-ops.md names, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "compiler/backends.h"
#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "partition/partition.h"

namespace tenon::compiler {
namespace {

std::string page() {
  std::ifstream file(TENON_TEST_DATA "/../../docs/opaque-ops.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool gives_floats(const ir::Graph& graph, ir::NodeId node) {
  const auto& outputs = graph.node(node).outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](ir::ValueId v) { return v && is_arithmetic_float(graph.value(v).type.dtype); });
}

/// Names of the ops that the plan of a sample leaves to the reference, though they compute floats.
std::vector<std::string> opaque_ops(const ops::OpDef& def, std::string_view text, bool symbolic) {
  auto sample = ops::parse_sample(def, text);
  if (!sample) return {"no sample: " + sample.error().text()};
  auto made = ops::build_sample(def, *sample, 1, symbolic);
  if (!made) return {};  // needs that size: tests/ops says which may
  std::vector<std::string> names;
  const backend::Backends backends = *backends_named();
  if (auto done = partition::prepare(*made->graph, backends); !done) return {done.error().text()};
  const partition::Roles roles(backends, 1);
  auto partition = partition::partition(*made->graph, roles, {});
  if (!partition) return {partition.error().text()};
  for (const ir::Segment& s : partition->device_segments(roles))
    for (ir::NodeId n : s.nodes)
      if (gives_floats(*made->graph, n)) names.push_back(made->graph->node(n).op->name);
  return names;
}

TEST(Opaque, OpsThatComputeFloatsByReferenceAreNamedInTheDocs) {
  const std::string text = page();
  ASSERT_FALSE(text.empty());
  for (const ops::OpDef* def : ops::all_ops())
    for (std::string_view sample : def->samples)
      for (bool symbolic : {false, true})
        for (const std::string& name : opaque_ops(*def, sample, symbolic))
          EXPECT_NE(text.find("`" + name + "`"), text.npos) << name << " in the sample '" << sample << "' of " << def->name;
}

/// Nearest elements in the sizes that the ONNX specification gives: round_int(scale * size), with the smaller or the larger scale of both
/// axes.
TEST(Opaque, ResizeKeepsRatioOfSizesKnownAtRunTime) {
  struct Case {
    std::string policy;
    Sizes input, output;
  };
  for (const Case& c : {Case{"not_larger", {2, 4}, {4, 7}}, Case{"not_larger", {8, 4}, {4, 2}}, Case{"not_smaller", {2, 4}, {4, 8}},
                        Case{"not_smaller", {8, 4}, {14, 7}}}) {
    const std::string text = "graph(x: f32[n,m]) { const sizes: i64[2] = [4, 7] y = Resize(x, _, _, sizes, keep_aspect_ratio_policy=\"" +
                             c.policy + "\") z = Neg(y) return z }";
    std::vector<float> data(static_cast<size_t>(c.input[0] * c.input[1]));
    for (size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k);
    const Tensor x = Tensor::of_f32(c.input, data);
    const auto expected = ops::evaluate(**ir::parse(text, ops::table()), {&x, 1});
    ASSERT_TRUE(expected) << expected.error().text();
    EXPECT_EQ((*expected)[0].shape(), c.output) << c.policy;
    for (int opt : {0, 3}) {
      const auto found = testing::compiled_results(*ir::parse(text, ops::table()), {&x, 1}, opt);
      ASSERT_TRUE(found) << found.error().text();
      EXPECT_EQ(testing::difference((*expected)[0], (*found)[0]), "") << c.policy;
    }
  }
}

}  // namespace
}  // namespace tenon::compiler
