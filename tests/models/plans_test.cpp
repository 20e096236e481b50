// SPDX-License-Identifier: Apache-2.0
// The plans of PyTorch's models hold every invariant after each pass, and nearly all of what they read and write is proved to be inside.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "codegen/analysis/plan_verify.h"
#include "codegen/plan/plan_options.h"
#include "codegen/plan/text.h"
#include "codegen/text/parse_plan.h"
#include "compiler/backends.h"
#include "import/onnx_import.h"
#include "partition/partition.h"
#include "passes/pipeline.h"
#include "weights.h"

namespace tenon::tests {
namespace {

/// Its text parses to a plan that is sound and prints the same.
void expect_text_parses(const codegen::Plan& plan) {
  ir::TextConstants constants;
  const std::string text = codegen::text_of(plan, &constants);
  Symbols symbols;
  const auto again = codegen::parse_plan(text, symbols, &constants);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_TRUE(codegen::text_of(*again, nullptr) == text);
}

/// The plan of the graph and of all bodies inside it.
void examine_all(const ir::Graph& graph, int64_t& accesses, std::vector<std::string>& unproved) {
  codegen::PlanOptions options;
  options.verify = true;
  const backend::Backends backends = *compiler::backends_named();
  const partition::Roles roles(backends, 1);
  const auto partition = partition::partition(graph, roles, {});
  ASSERT_TRUE(partition) << partition.error().text();
  const std::vector<ir::Segment> segments = partition->device_segments(roles);
  const auto made = backends[0]->compile({graph, segments}, {.planning = options, .target = *codegen::target_named("x86_avx2")});
  ASSERT_TRUE(made) << made.error().text();
  const codegen::Plan& plan = std::get<backend::Kernels>(*made).plan;
  ASSERT_TRUE(codegen::verify(plan)) << codegen::verify(plan).error().text();  // prepared operands too
  expect_text_parses(plan);
  codegen::PlanReport report = codegen::examine(plan, &graph);
  accesses += report.accesses;
  unproved.insert(unproved.end(), report.unproved.begin(), report.unproved.end());
  for (ir::NodeId n : graph.nodes())
    for (const ir::Body& b : graph.node(n).bodies) examine_all(*b.graph, accesses, unproved);
}

TEST(ModelPlans, StayInsideTheirArrays) {
  int64_t all = 0, open = 0;
  for (const auto& file : std::filesystem::directory_iterator(TENON_TEST_DATA)) {
    if (file.path().extension() != ".onnx") continue;
    SCOPED_TRACE(file.path().stem().string());
    const std::filesystem::path weights = std::filesystem::temp_directory_path() / ("tenon_plans_" + std::to_string(getpid()));
    std::filesystem::create_directories(weights);
    ASSERT_TRUE(write_weights(file.path(), weights));
    import::ImportOptions from;
    from.external_data_dir = weights;
    auto imported = import::import_onnx(file.path(), from);
    std::filesystem::remove_all(weights);  // what is mapped stays
    ASSERT_TRUE(imported) << imported.error().text();
    passes::Options rewriting;
    rewriting.level = 3;
    ASSERT_TRUE(passes::optimise(*imported->graph, rewriting));
    ASSERT_TRUE(partition::prepare(*imported->graph, *compiler::backends_named()));
    int64_t accesses = 0;
    std::vector<std::string> unproved;
    examine_all(*imported->graph, accesses, unproved);
    for (const std::string& u : unproved) std::printf("%s: unproved: %s\n", file.path().stem().c_str(), u.c_str());
    all += accesses;
    open += static_cast<int64_t>(unproved.size());
  }
  std::printf("%ld accesses, %ld unproved\n", static_cast<long>(all), static_cast<long>(open));
  EXPECT_GT(all, 1000);
  EXPECT_LE(open * 50, all);
}

}  // namespace
}  // namespace tenon::tests
