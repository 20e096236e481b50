// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan_record.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <regex>

#include "codegen/cost/predict.h"
#include "compiler/engine_contents.h"
#include "compiler/save.h"
#include "engine/writer.h"
#include "files/mapped_file.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon {
namespace {

using compiler::PlanRecord;
using engine::SectionType;

/// A product of a size that the run gives, a row op, and a map that is inlined.
constexpr const char* kGraph = R"(graph main(x: f32[batch,16]) {
  const w: f32[16,32] = splat(0.5)
  const half: f32[] = 0.5
  product: f32[batch,32] = MatMul(x, w) @"/product"
  scaled: f32[batch,32] = Mul(product, half)
  y: f32[batch,32] = Softmax(scaled, axis=1)
  return y
}
)";

compiler::Compiled compiled() {
  compiler::CompileOptions options;
  options.target = *codegen::target_named("x86_avx2");
  auto out = compiler::compile(*ir::parse(kGraph, ops::table()), options);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

std::string record_of(const compiler::Compiled& c) { return encode(compiler::plan_record(c), *c.graph); }

std::filesystem::path path_of(const std::string& name) { return std::filesystem::path(testing::TempDir()) / name; }

std::filesystem::path saved() {
  const auto path = path_of("plan_record.tenon");
  EXPECT_TRUE(compiler::save(compiled(), {}, path));
  return path;
}

/// The engine of saved() with another section; an empty one is left out.
std::filesystem::path with_section(SectionType type, const std::string& bytes) {
  const auto path = saved(), out = path_of("plan_record_other.tenon");
  const auto file = *files::MappedFile::open(path);
  const auto reader = *engine::Reader::open(file->bytes(), file, path.string());
  engine::Writer writer;
  for (const engine::Section& s : reader.sections()) {
    if (s.type == type && bytes.empty()) continue;
    writer.add(s.type, s.type == type ? bytes : std::string(reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size()),
               {.required = s.required, .tag = s.tag});
  }
  std::ofstream(out, std::ios::binary) << *writer.bytes();
  return out;
}

Code code_of(const std::filesystem::path& path) {
  const auto contents = compiler::read_contents(path, ops::table());
  return contents ? Code::internal : contents.error().code();
}

/// Predictions of the steps, for a batch of 7.
std::vector<double> predictions(const PlanRecord& record, const codegen::Target& target) {
  std::vector<double> out;
  for (const codegen::Work& work : record.work_of_step) {
    const auto known = with_sizes(work, [](const DimNode&) { return Dim(7); });
    if (!known) continue;
    out.push_back(codegen::predict(*known, {}, target, default_machine(target, 4)).ns);
    EXPECT_LT(codegen::tiling_text(*known, target).size(), 4096u);
  }
  return out;
}

TEST(PlanRecord, ReadRecordEqualsTheWrittenOne) {
  const compiler::Compiled c = compiled();
  const std::string bytes = record_of(c);
  const auto structure = ir::parse_structure(ir::print(*c.graph), ops::table());
  ASSERT_TRUE(structure) << structure.error().text();
  const auto read = compiler::decode_plan_record(bytes, **structure, *c.code.target);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(encode(*read, **structure), bytes);
  EXPECT_EQ(read->groups, compiler::plan_record(c).groups);
  EXPECT_EQ(read->group_of_step, c.built.origins[0].group_of_step);
  const auto expected = predictions(compiler::plan_record(c), *c.code.target);
  EXPECT_EQ(predictions(*read, *c.code.target), expected);
  EXPECT_EQ(expected.size(), c.built.programs[0].steps.size());
  EXPECT_FALSE(read->work_of_step[0].products.empty());
}

TEST(PlanRecord, EngineHoldsGraphProgramAndRecord) {
  const auto contents = compiler::read_contents(saved(), ops::table());
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_TRUE(contents->programs && contents->entries[0].plan);
  EXPECT_EQ(contents->entries[0].plan->group_of_step.size(), (*contents->programs)[0].steps.size());
  EXPECT_EQ(contents->tactics.size(), compiled().built.tactics.size());
  EXPECT_EQ(contents->target->name, "x86_avx2");
  EXPECT_EQ(ir::print(*contents->entries[0].graph).substr(0, 40), ir::print(*compiled().graph).substr(0, 40));
}

/// Two entries: that graph, and another.
compiler::Compiled compiled_entries() {
  std::vector<compiler::EntrySource> entries;
  entries.push_back({"main", *ir::parse(kGraph, ops::table())});
  entries.push_back({"other", *ir::parse("graph main(z: f32[n,8]) { a = Exp(z) b = ReduceSum(a) return b }", ops::table())});
  compiler::CompileOptions options;
  options.target = *codegen::target_named("x86_avx2");
  auto out = compiler::compile(std::move(entries), options);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

TEST(PlanRecord, EngineHoldsGraphAndRecordOfEachEntry) {
  const compiler::Compiled c = compiled_entries();
  const auto path = path_of("plan_record_entries.tenon");
  ASSERT_TRUE(compiler::save(c, {}, path));
  const auto contents = compiler::read_contents(path, ops::table());
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_EQ(contents->entries.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    const compiler::EntryContents& e = contents->entries[k];
    EXPECT_EQ(e.name, k == 0 ? "main" : "other");
    ASSERT_TRUE(e.plan);
    EXPECT_EQ(encode(*e.plan, *e.graph), encode(compiler::plan_record(c, k), compiler::graph_of(c, k)));
    EXPECT_FALSE(e.plan->work_of_step.empty());
  }
  EXPECT_EQ(ir::print(*contents->entries[1].graph).substr(0, 20), ir::print(*c.other_entries[0].graph).substr(0, 20));
}

/// As engines of several entries were before: the record, and the graph, of the first alone.
TEST(PlanRecord, RecordOfTheFirstEntryAloneIsRead) {
  const compiler::Compiled c = compiled_entries();
  const std::vector<ir::Graph*> graphs{c.graph.get(), c.other_entries[0].graph.get()};
  const auto read = compiler::decode_plan_records(record_of(c), graphs, *c.code.target);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->size(), 1u);
  const auto both = compiler::decode_plan_records(compiler::encode_plan_records(c), graphs, *c.code.target);
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->size(), 2u);
  const auto more = compiler::decode_plan_records(compiler::encode_plan_records(c), std::span(graphs).first(1), *c.code.target);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), Code::bad_file);
}

TEST(PlanRecord, DamagedRecordOfAnEntryIsAnErrorOrARecord) {
  const compiler::Compiled c = compiled_entries();
  const std::vector<ir::Graph*> graphs{c.graph.get(), c.other_entries[0].graph.get()};
  const std::string bytes = compiler::encode_plan_records(c);
  size_t refused = 0;
  for (size_t k = record_of(c).size(); k < bytes.size(); ++k)
    for (const char mask : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[k] = static_cast<char>(damaged[k] ^ mask);
      const auto read = compiler::decode_plan_records(damaged, graphs, *c.code.target);
      if (!read) ASSERT_EQ(read.error().code(), Code::bad_file);
      refused += !read;
    }
  EXPECT_GT(refused, 0u);
}

TEST(PlanRecord, PortableEngineHoldsGraphAlone) {
  compiler::CompileOptions options;
  options.portable = true;
  const auto path = path_of("plan_record_portable.tenon");
  ASSERT_TRUE(compiler::save(*compiler::compile(*ir::parse(kGraph, ops::table()), options), options, path));
  const auto contents = compiler::read_contents(path, ops::table());
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_FALSE(contents->programs || contents->entries[0].plan);
  EXPECT_GT(contents->entries[0].graph->node_count(), 0u);
}

TEST(PlanRecord, EngineWithoutRecordHasGraphAndProgram) {
  const auto contents = compiler::read_contents(with_section(SectionType::plan_record, ""), ops::table());
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_TRUE(contents->programs);
  EXPECT_FALSE(contents->entries[0].plan);
}

TEST(PlanRecord, EngineWithoutGraphIsAnError) { EXPECT_EQ(code_of(with_section(SectionType::graph_text, "")), Code::bad_file); }

TEST(PlanRecord, UnknownOpsOfTheGraphAreNames) {
  const auto contents = compiler::read_contents(
      with_section(SectionType::graph_text, std::regex_replace(ir::print(*compiled().graph), std::regex(" = MatMul"), " = acme::MatMul")),
      ops::table());
  ASSERT_TRUE(contents) << contents.error().text();
  EXPECT_TRUE(contents->entries[0].graph->node(*contents->entries[0].graph->nodes().begin()).op->unknown);
}

TEST(PlanRecord, RecordOfAnotherProgramIsRefused) {
  const compiler::Compiled c = compiled();
  PlanRecord record = compiler::plan_record(c);
  record.group_of_step.pop_back();
  EXPECT_EQ(code_of(with_section(SectionType::plan_record, encode(record, *c.graph))), Code::bad_file);
}

TEST(PlanRecord, RecordOfAnotherGraphIsRefused) {
  const compiler::Compiled c = compiled();
  const auto one = ir::parse_structure("graph main(x: f32[n]) { y: f32[n] = Relu(x) return y }", ops::table());
  EXPECT_EQ(compiler::decode_plan_record(record_of(c), **one, *c.code.target).error().code(), Code::bad_file);
}

TEST(PlanRecord, ValuesThatNoPlanHasAreRefused) {
  const compiler::Compiled c = compiled();
  const auto is_read = [&](const std::function<void(PlanRecord&)>& change) {
    PlanRecord record = compiler::plan_record(c);
    change(record);
    return compiler::decode_plan_record(encode(record, *c.graph), *c.graph, *c.code.target).has_value();
  };
  const auto product = [](PlanRecord& r) -> codegen::ProductWork& { return r.work_of_step[0].products.at(0); };
  const auto loop = [](PlanRecord& r) -> codegen::LoopWork& { return r.work_of_step.back().loops.at(0); };
  EXPECT_TRUE(is_read([](PlanRecord&) {}));
  EXPECT_FALSE(is_read([](PlanRecord& r) { r.group_of_step[0] = 1000; }));
  EXPECT_FALSE(is_read([](PlanRecord& r) { r.groups_of_nodes.begin()->second = {1000}; }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { product(r).tile.vectors = 0; }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { product(r).tile.rows = 1 << 20; }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { product(r).rows = -3; }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { product(r).depth = Dim(int64_t{1} << 60) * Dim(4); }));  // overflows
  EXPECT_FALSE(is_read([&](PlanRecord& r) {
    product(r).instruction = (*codegen::target_named("x86_avx512_bf16"))->multiply_add(DType::bf16, DType::bf16, DType::f32);
  }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { loop(r).operations = -1; }));
  EXPECT_FALSE(is_read([&](PlanRecord& r) { loop(r).loads = std::numeric_limits<double>::quiet_NaN(); }));
}

/// The record of a graph of `nodes` nodes and one step: a product whose operand has this number of a dtype.
std::string record_with_operand(size_t nodes, uint64_t dtype) {
  std::string out, step, product;
  protozero::pbf_writer p(product);
  p.add_uint32(5, 4);  // rows of the tile
  p.add_uint32(6, 2);  // vectors of the tile
  p.add_uint64(7, dtype);
  p.add_uint32(9, static_cast<uint32_t>(DType::f32));  // of the sum
  protozero::pbf_writer(step).add_message(2, product);
  protozero::pbf_writer record(out);
  record.add_message(1, std::string());
  for (size_t k = 0; k < nodes; ++k) record.add_message(2, std::string());
  record.add_message(3, step);
  return out;
}

TEST(PlanRecord, DTypeBeyondItsRangeIsAnError) {
  const compiler::Compiled c = compiled();
  const auto read = [&](uint64_t dtype) {
    return compiler::decode_plan_record(record_with_operand(c.graph->node_count(), dtype), *c.graph, *c.code.target);
  };
  const auto f32 = static_cast<uint64_t>(DType::f32);
  ASSERT_TRUE(read(f32)) << read(f32).error().text();
  for (const uint64_t bad : {f32 + 256, f32 + (uint64_t{1} << 32), uint64_t{200}}) {
    ASSERT_FALSE(read(bad)) << bad;
    EXPECT_EQ(read(bad).error().code(), Code::bad_file);
  }
}

/// What nobody bounds is AccessPattern::kUnbounded elements, and arithmetic makes more of them.
TEST(PlanRecord, UnboundedWalksAreRead) {
  const compiler::Compiled c = compiled();
  PlanRecord record = compiler::plan_record(c);
  record.work_of_step[0].access_patterns.at(0).elements = Dim(codegen::AccessPattern::kUnbounded) * Dim(3);
  record.work_of_step[0].products.at(0).rows = Dim((int64_t{1} << 61) - 1);
  const auto read = compiler::decode_plan_record(encode(record, *c.graph), *c.graph, *c.code.target);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->work_of_step[0].access_patterns[0].elements, Dim(3 * codegen::AccessPattern::kUnbounded));
  for (const double ns : predictions(*read, *c.code.target)) EXPECT_GT(ns, 0);
}

/// Each byte changed in several ways, and each length: an error, or a record that predictions take.
TEST(PlanRecord, DamagedRecordIsAnErrorOrARecord) {
  const compiler::Compiled c = compiled();
  const std::string bytes = record_of(c);
  size_t refused = 0;
  const auto read = [&](const std::string& damaged) {
    const auto structure = ir::parse_structure(ir::print(*c.graph), ops::table());
    const auto record = compiler::decode_plan_record(damaged, **structure, *c.code.target);
    if (record) predictions(*record, *c.code.target);
    else ASSERT_EQ(record.error().code(), Code::bad_file);
    refused += !record;
  };
  for (size_t k = 0; k < bytes.size(); ++k) {
    for (const char mask : {'\x01', '\x10', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[k] = static_cast<char>(damaged[k] ^ mask);
      read(damaged);
    }
    read(bytes.substr(0, k));
  }
  EXPECT_GT(refused, bytes.size());
}

TEST(PlanRecord, FlippedBitIsFoundWhenItIsRead) {
  const auto path = saved();
  const auto file = *files::MappedFile::open(path);
  const auto reader = *engine::Reader::open(file->bytes(), file, path.string());
  std::string bytes(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  for (const SectionType type : {SectionType::plan_record, SectionType::graph_text}) {
    const auto section = std::ranges::find(reader.sections(), type, &engine::Section::type);
    std::string damaged = bytes;
    damaged[section->offset + section->bytes.size() / 2] ^= 4;
    const auto other = path_of("plan_record_flipped.tenon");
    std::ofstream(other, std::ios::binary) << damaged;
    EXPECT_EQ(code_of(other), Code::bad_file);
  }
}

}  // namespace
}  // namespace tenon
