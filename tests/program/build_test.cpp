// SPDX-License-Identifier: Apache-2.0
#include "program/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../segments.h"
#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::tests {
namespace {

using codegen::GroupKind;
using runtime::BufferInfo;
using runtime::Step;

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? std::move(*graph) : nullptr;
}

/// Every group gets one kernel over the arrays that its loops touch; none has code that could run.
/// blob_weights: weights of each segment's blob. edit: changes the lowered graph before it is linked.
Result<program::LinkedPrograms> build(const ir::Graph& graph, const std::vector<ir::ConstantRef>& blob_weights = {},
                                      const std::function<void(backend::Kernels&)>& edit = {}) {
  program::LoweredGraph out;
  out.graph = &graph;
  const std::vector<ir::Segment> segments = nodes_alone(graph);
  for (const ir::Segment& s : segments) out.blobs.push_back({"blob of " + graph.node(s.nodes[0]).op->name, blob_weights});
  out.kernels.plan = TRY(codegen::plan(graph, **codegen::target_named("x86_avx512"),
                                       {.segments = segments, .fuse = false, .channels_last = false, .outer_symbols = {}}));
  const codegen::Plan& plan = out.kernels.plan;
  auto& kernels = out.kernels.of_groups;
  kernels.resize(plan.groups.size());
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    if (plan.groups[g].kind() != GroupKind::nests && plan.groups[g].kind() != GroupKind::contract) continue;
    codegen::Kernel kernel;
    for (const codegen::Nest& nest : plan.groups[g].nests) {
      for (const codegen::NestAccess& a : nest.accesses) kernel.arguments.push_back(a.array);
      for (const codegen::NestOutput& o : nest.outputs) kernel.arguments.push_back(o.array);
      for (ir::NodeId n : nest.nodes) kernel.nodes.push_back(n);
    }
    kernels[g].push_back(std::move(kernel));
  }
  if (edit) edit(out.kernels);
  return program::build(std::move(out));
}

const BufferInfo& named(const runtime::Program& p, std::string_view name) {
  for (const BufferInfo& b : p.buffers)
    if (b.name == name) return b;
  ADD_FAILURE() << "no buffer " << name;
  return p.buffers[0];
}

TEST(Build, MarksLookupTables) {
  auto graph = graph_of(R"(graph main(ids: i64[n], x: f32[3,4]) {
    const table: f32[3,4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    const both: f32[3,4] = [2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    const added: f32[3,4] = [3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    a = Gather(table, ids)
    b = Gather(both, ids)
    c = Add(x, both)
    d = Add(x, added)
    return a, b, c, d
  })");
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  std::vector<std::pair<double, bool>> found;  // the first element tells which it is
  for (const program::PlacedConstant& w : built->weights) found.emplace_back(w.constant->tensor()->number(0), w.is_lookup_table);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::pair<double, bool>>{{1, true}, {2, false}, {3, false}}));
}

/// One thread may still read a buffer while another writes for a later kernel of the region.
TEST(Build, KeepsBuffersOfARegionForAllItsKernels) {
  auto graph = graph_of("graph main(x: f32[8,4]) { a = Exp(x) b = Neg(a) c = Abs(b) d = Exp(c) return d }");
  auto built = build(*graph, {}, [](backend::Kernels& kernels) {
    for (size_t g : {1, 2, 3}) kernels.plan.groups[g].region = codegen::Region{{0}, 8, 4, g > 1};
    for (size_t g : {1, 2}) kernels.of_groups[g][0].units = 8;  // the last one has its tasks otherwise
    for (codegen::Array& a : kernels.plan.arrays) a.units = a.same_bytes < 0 && !a.fixed_layout ? 8 : 0;
  });
  ASSERT_TRUE(built) << built.error().text();
  const runtime::Program& p = built->programs[0];
  ASSERT_EQ(p.steps.size(), 4U);
  const auto lives = [&](std::string_view name) { return std::pair(named(p, name).first, named(p, name).last); };
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(runtime::is_joined(p.steps[k]), k == 2);
  const auto kernel = [&](size_t step) { return *runtime::as<runtime::KernelStep>(p.steps[step]); };
  EXPECT_TRUE(kernel(1).units && kernel(1).parts && !kernel(3).units);
  EXPECT_EQ(lives("a"), std::pair(0U, 2U));
  EXPECT_EQ(lives("b"), std::pair(1U, 2U));
  EXPECT_EQ(lives("c"), std::pair(1U, 3U));
  EXPECT_TRUE(named(p, "b").units);
  EXPECT_FALSE(named(p, "a").units || named(p, "c").units);
}

TEST(Build, NumbersPortsBuffersAndTheirLives) {
  auto graph =
      graph_of("graph main(x: f32[n,4]) { const w: f32[4] = [1, 2, 3, 4] a = Exp(x) b = Mul(a, w) c = Add(a, b) return c as out }");
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  const runtime::Program& p = built->programs[0];
  ASSERT_EQ(p.steps.size(), 3u);
  EXPECT_EQ(p.inputs[0].name, "x");
  EXPECT_EQ(p.inputs[0].dimensions, (std::vector<std::string>{"n", "4"}));
  EXPECT_EQ(p.outputs[0].name, "out");
  EXPECT_EQ(p.buffers[p.outputs[0].buffer].kind, BufferInfo::Kind::output);
  EXPECT_EQ(named(p, "a").kind, BufferInfo::Kind::arena);
  EXPECT_EQ(named(p, "a").first, 0u);
  EXPECT_EQ(named(p, "a").last, 2u);
  EXPECT_EQ(named(p, "b").first, 1u);
  EXPECT_EQ(named(p, "b").last, 2u);
  EXPECT_EQ(p.steps[0].label, "Exp");
  EXPECT_TRUE(runtime::decode(runtime::encode(built->programs)));
}

TEST(Build, PlacesEachWeightOnceWithRoomAfterIt) {
  auto graph = graph_of(
      "graph main(x: f32[n,4]) { const w: f32[4] = [1, 2, 3, 4] const v: f32[4] = [5, 6, 7, 8]"
      " a = Mul(x, w) b = Mul(a, v) c = Mul(b, w) return c }");
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  ASSERT_EQ(built->weights.size(), 2u);
  EXPECT_EQ(built->weights[0].offset, 0u);
  EXPECT_EQ(built->weights[1].offset % 64, 0u);
  EXPECT_GE(built->weights[1].offset, 16 + runtime::kSlack);
  EXPECT_GE(built->programs.weight_bytes, built->weights[1].offset + 16 + runtime::kSlack);
}

/// Two products that each transpose the same weights (the cells of an unrolled layer).
TEST(Build, PlacesEqualComputedConstantsOnce) {
  auto graph = graph_of("graph main(x: f32[n,256], w: f32[256,256], v: f32[256,256]) { a = MatMul(x, w) c = MatMul(a, v) return c }");
  std::vector<float> numbers(size_t{256} * 256);
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(k % 97);
  const ir::ConstantRef weight = ir::constant_of(Tensor::of_f32({256, 256}, numbers));
  for (const char* name : {"w", "v"})
    graph->replace_all_uses(graph->find_value(name), graph->add_constant(ir::permute(weight, {1, 0}), std::string(name) + "_transposed"));
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_EQ(built->weights.size(), 1u);
}

TEST(Build, BindsSizesThatASegmentBrings) {
  auto graph = graph_of("graph main(x: f32[n]) { i = NonZero(x) y = Cast(i, to=1) z = Exp(y) return z }");
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  const runtime::Program& p = built->programs[0];
  const auto* const segment = runtime::as<runtime::SegmentStep>(p.steps[0]);
  ASSERT_TRUE(segment);
  EXPECT_EQ(p.blobs[segment->blob].device, "reference");
  EXPECT_EQ(p.blobs[segment->blob].bytes, "blob of NonZero");
  EXPECT_EQ(built->device_ops, (std::vector<std::pair<std::string, std::string>>{{"reference", "NonZero"}}));
  ASSERT_EQ(p.steps[0].bindings.size(), 1u);
  const runtime::Slot slot = p.steps[0].bindings[0].slot;
  EXPECT_EQ(p.sizes[slot].kind, runtime::SizeLine::Kind::bound);
  EXPECT_GE(slot, p.input_lines);
  EXPECT_GT(p.steps[1].lines, slot);
  EXPECT_TRUE(runtime::sized_late(p, named(p, "y")));
}

TEST(Build, GivesTheSameProgramForTheSameGraph) {
  constexpr std::string_view kText = "graph main(x: f32[n,m]) { a = Exp(x) b = Shape(a) c = NonZero(a) d = Neg(a) return b, c, d }";
  auto one = build(*graph_of(kText)), two = build(*graph_of(kText));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(runtime::encode(one->programs), runtime::encode(two->programs));
}

TEST(Build, RefusesASizeWithoutOrigin) {
  auto graph = graph_of("graph main(x: f32[2*n]) { y = Exp(x) return y }");
  auto built = build(*graph);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code(), Code::not_supported);
}

TEST(Build, LaysOutResultsOfSegmentsWhoseSizesAreKnown) {
  auto graph = graph_of("graph main(x: f32[n,8]) { const k: i64[1] = [3] v, i = TopK(x, k) y = Exp(v) j = NonZero(y) return y, j }");
  auto built = build(*graph);
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_EQ(named(built->programs[0], "v").kind, BufferInfo::Kind::arena);
  EXPECT_EQ(named(built->programs[0], "j").kind, BufferInfo::Kind::dynamic);
}

TEST(Build, KeepsAWeightThatKernelsAndSegmentsReadOnce) {
  auto graph = graph_of("graph main(x: f32[4]) { const w: f32[4] = [1, 2, 3, 4] y = Add(x, w) i = NonZero(y) return i }");
  const ir::ValueId w = graph->find_value("w");
  auto built = build(*graph, {graph->value(w).constant});
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_EQ(built->weights.size(), 1u);
  const Step& segment = built->programs[0].steps.back();
  ASSERT_EQ(segment.buffers.size(), 2u);
  const BufferInfo& passed = built->programs[0].buffers[segment.buffers[1]];
  EXPECT_EQ(passed.kind, BufferInfo::Kind::weight);
  EXPECT_EQ(passed.offset, built->weights[0].offset);
}

}  // namespace
}  // namespace tenon::tests
