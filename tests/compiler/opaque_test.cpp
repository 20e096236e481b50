// SPDX-License-Identifier: Apache-2.0
// Which ops run by reference: those with floating-point results that docs/opaque-ops.md names, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "compiler/backends.h"
#include "ops/core/sample.h"
#include "partition/partition.h"

namespace tenon::compiler {
namespace {

std::string page() {
  std::ifstream file(TENON_TEST_DATA "/../../docs/opaque-ops.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool gives_floats(const ir::Graph& graph, ir::NodeId node) {
  const auto& outputs = graph.node(node).outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](ir::ValueId v) { return v && is_real_arithmetic(graph.value(v).type.dtype); });
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
  for (const ir::Segment& s : partition->of_devices(roles))
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

}  // namespace
}  // namespace tenon::compiler
