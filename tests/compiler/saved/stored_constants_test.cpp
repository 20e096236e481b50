// SPDX-License-Identifier: Apache-2.0
// Constants of engines without code: matrices in blocks and narrow types keep their steps, and no entry is trusted.
#include "compiler/stored_constants.h"

#include <gtest/gtest.h>

#include "../../random_blocks.h"
#include "base/blocks/grouped_codes.h"
#include "compiler/load.h"
#include "compiler/save.h"
#include "helpers.h"
#include "ops/core/sample.h"

namespace tenon::compiler {
namespace {

using Json = nlohmann::ordered_json;

/// What a file would hold.
struct Stored {
  Json entries = Json::array();
  std::vector<std::byte> weights;

  explicit Stored(const std::vector<ir::ConstantRef>& constants, bool compares = false) {
    StoredConstants all;
    for (const ir::ConstantRef& c : constants) entries.push_back(all.add(c, compares));
    const auto append = [&](std::span<const std::byte> bytes) -> Result<void> {
      weights.insert(weights.end(), bytes.begin(), bytes.end());
      return {};
    };
    EXPECT_TRUE(all.write(append));
    EXPECT_EQ(static_cast<int64_t>(weights.size()), all.bytes());
  }

  Result<ir::ConstantRef> read(const Json& entry) const { return read_constant(Json::parse(entry.dump()), 7, weights, nullptr, "file"); }
};

ir::ConstantRef random(DType dtype, Sizes shape) { return ir::constant_of(*ops::random_tensor(dtype, std::move(shape), 1)); }

void expect_kept(const ir::ConstantRef& c, int64_t bytes) {
  const Stored stored({c});
  EXPECT_LE(static_cast<int64_t>(stored.weights.size()), bytes + 63) << stored.entries;
  const auto again = stored.read(Json::parse(stored.entries[0].dump()));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ((*again)->dtype, c->dtype);
  EXPECT_EQ((*again)->shape, c->shape);
  const Tensor want = *ir::materialise(*c), got = *ir::materialise(**again);
  EXPECT_TRUE(std::equal(want.data(), want.data() + c->byte_size(), got.data())) << stored.entries;
}

TEST(StoredConstants, KeepBlocksAndNarrowTypesThroughSteps) {
  for (const BlockFormat* of : {block_format_named("Q4_1"), block_format_named("Q8_0"), block_format_named("Q6_K"),
                                grouped_codes(4, 128, true), grouped_codes(8, 32, false)}) {
    const BlockFormat& format = *of;
    const ir::ConstantRef w = tests::random_blocks(format, 6, 512, 1);
    const int64_t bytes = static_cast<int64_t>(*block_bytes(format, 6 * 512));
    expect_kept(w, bytes);
    expect_kept(ir::permute(w, {1, 0}), bytes);
    expect_kept(ir::reshape(ir::permute(w, {1, 0}), {2, 256, 6}), bytes);
    expect_kept(ir::slice(w, 0, 1, 5), bytes);
    expect_kept(ir::slice(w, 0, 5, -1, -2), bytes);
    expect_kept(ir::concat({w, tests::random_blocks(format, 3, 512, 2)}, 0), bytes * 9 / 6 + 64);
  }
  expect_kept(ir::cast(random(DType::f16, {8, 9}), DType::f32), 8 * 9 * 2);
  expect_kept(ir::cast(random(DType::bf16, {8, 9}), DType::f32), 8 * 9 * 2);
}

TEST(StoredConstants, OfOtherStepsOrFewerBytesAreTensors) {
  const ir::ConstantRef w = random(DType::f32, {4, 6});
  for (const ir::ConstantRef& c : {w, ir::permute(w, {1, 0}), ir::scale(w, random(DType::f64, {6}), 1), ir::slice(w, 1, 0, 2),
                                   ir::cast(random(DType::f64, {3, 4}), DType::f32)}) {
    const Stored stored({c});
    EXPECT_TRUE(stored.entries[0].contains("offset")) << stored.entries;
    expect_kept(c, c->byte_size());
  }
}

TEST(StoredConstants, ShareBytes) {
  const BlockFormat& format = *block_format_named("Q4_1");
  const ir::ConstantRef w = tests::random_blocks(format, 6, 512, 1);
  const size_t alone = Stored({w}).weights.size();
  EXPECT_EQ(Stored({w, ir::permute(w, {1, 0}), ir::slice(w, 0, 0, 3)}).weights.size(), alone);
  const ir::ConstantRef a = random(DType::f32, {100}), b = random(DType::f32, {100});
  EXPECT_EQ(Stored({a, b}, true).weights.size(), 448U) << "equal numbers";
  EXPECT_EQ(Stored({a, b}).weights.size(), 896U);
}

TEST(StoredConstants, EntriesThatAreWrongAreRefused) {
  const BlockFormat& format = *block_format_named("Q4_1");
  const ir::ConstantRef w = tests::random_blocks(format, 6, 64, 1);
  const Stored stored({ir::permute(w, {1, 0}), ir::slice(w, 0, 1, 5), ir::concat({w, w}, 0), ir::reshape(ir::permute(w, {1, 0}), {384}),
                       ir::cast(random(DType::f16, {4, 8}), DType::f32)});
  for (const Json& entry : stored.entries) ASSERT_TRUE(stored.read(entry));
  const auto refused = [&](size_t k, const char* changes) {
    Json entry = stored.entries[k];
    entry.merge_patch(Json::parse(changes));
    const auto read = stored.read(entry);
    ASSERT_FALSE(read) << entry;
    EXPECT_EQ(read.error().code(), Code::bad_file);
    EXPECT_NE(read.error()->what.find("constant @7 of the constants index"), std::string::npos) << read.error().text();
  };
  for (const char* changes : {R"({"order": [0, 1]})",
                              R"({"order": [1, 1]})",
                              R"({"order": [1]})",
                              R"({"order": [0, 1, 2]})",
                              R"({"order": [-1, 0]})",
                              R"({"order": null})",
                              R"({"order": "10"})",
                              R"({"step": "transpose"})",
                              R"({"step": 3})",
                              R"({"of": null})",
                              R"({"of": []})",
                              R"({"shape": [64, 7]})",
                              R"({"dtype": "f16"})",
                              R"({"of": {"blocks": "Q4_9"}})",
                              R"({"of": {"blocks": "IQ1_S"}})",
                              R"({"of": {"at": 1}})",
                              R"({"of": {"at": 4096}})",
                              R"({"of": {"at": -64}})",
                              R"({"of": {"at": null}})",
                              R"({"of": {"dtype": "f16"}})",
                              R"({"of": {"shape": [6, 63]}})",
                              R"({"of": {"shape": []}})",
                              R"({"of": {"shape": [72057594037927936, 4]}})"})
    refused(0, changes);
  for (const char* changes :
       {R"({"axis": 2})", R"({"axis": -1})", R"({"axis": null})", R"({"by": 0})", R"({"begin": 6})", R"({"begin": -1})", R"({"end": 7})",
        R"({"end": 1})", R"({"by": -1})", R"({"end": 9223372036854775807})", R"({"shape": [3, 64]})"})
    refused(1, changes);
  for (const char* changes :
       {R"({"axis": 2})", R"({"axis": 1})", R"({"of": []})", R"({"of": {}})", R"({"of": [1]})", R"({"shape": [6, 64]})"})
    refused(2, changes);
  for (const char* changes : {R"({"shape": [383]})", R"({"shape": [72057594037927935]})"}) refused(3, changes);
  for (const char* changes : {R"({"dtype": "i32"})", R"({"dtype": "string"})", R"({"of": {"dtype": "i16"}})"}) refused(4, changes);
}

TEST(StoredConstants, InsideManyStepsAreRefused) {
  const Stored stored({random(DType::f32, {2, 2})});
  Json entry = stored.entries[0];
  for (int k = 0; k < 16; ++k) entry = Json{{"dtype", "f32"}, {"shape", {2, 2}}, {"step", "permute"}, {"order", {1, 0}}, {"of", entry}};
  EXPECT_TRUE(stored.read(entry));
  entry = Json{{"dtype", "f32"}, {"shape", {2, 2}}, {"step", "permute"}, {"order", {1, 0}}, {"of", entry}};
  EXPECT_FALSE(stored.read(entry));
}

TEST(StoredConstants, OfAnEngineForAnyCpuGiveTheBitsOfTheOthers) {
  const BlockFormat& format = *block_format_named("Q4_1");
  const auto graph_of = [&] {
    auto graph = *ir::parse("graph main(x: f32[n,512], unread: f32[512,96]) { y = MatMul(x, unread) return y }", ops::table());
    const ir::NodeId node = graph->value(graph->outputs()[0]).producer;
    graph->set_operand(node, 1, graph->add_constant(ir::permute(tests::random_blocks(format, 96, 512, 3), {1, 0}), "w"));
    return graph;
  };
  const auto results = [&](bool portable) {
    CompileOptions options;
    options.portable = portable;
    const auto path = std::filesystem::path(::testing::TempDir()) / "stored_constants.tenon";
    EXPECT_TRUE(save(*compile(graph_of(), options), options, path));
    if (portable) EXPECT_LT(std::filesystem::file_size(path), 96U * 512 * 20 / 32 + 32768);
    const auto context = *runtime::Context::create(*load(path));
    const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {5, 512}, 1), *Tensor::make(DType::f32, {512, 96})};
    const auto got = testing::copied_results(*context, inputs);
    const auto numbers = (*got)[0].as<float>();
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  EXPECT_EQ(results(true), results(false));
}

}  // namespace
}  // namespace tenon::compiler
