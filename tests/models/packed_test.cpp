// SPDX-License-Identifier: Apache-2.0
// Encoders that are asked for less than all their rows leave padding out, as every exporter writes them, and say what they say with it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/compile.h"
#include "import/onnx_import.h"
#include "weights.h"

namespace tenon::tests {
namespace {

using Masks = std::vector<std::vector<int64_t>>;

class Packed : public testing::TestWithParam<const char*> {
 protected:
  Packed() : folder_(std::filesystem::temp_directory_path() / fmt::format("tenon_packed_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Packed() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<ir::Graph> import() {
    const auto file = std::filesystem::path(TENON_TEST_DATA) / "fusions" / fmt::format("bert.{}.onnx", GetParam());
    EXPECT_TRUE(write_weights(file, folder_));
    import::ImportOptions options;
    options.external_data_dir = folder_;
    options.outputs = {"pooler_output"};
    auto imported = import::import_onnx(file, options);
    EXPECT_TRUE(imported) << imported.error().text();
    return imported ? std::move(imported->graph) : nullptr;
  }

  std::shared_ptr<runtime::Engine> engine(const ir::Graph& graph, bool packs) {
    compiler::CompileOptions options;
    options.verify = true;
    if (!packs) options.off.insert("pack_rows");
    auto compiled = compiler::compile(graph.clone(), options);
    EXPECT_TRUE(compiled) << compiled.error().text();
    auto engine = compiled ? compiler::load_compiled(std::move(*compiled)) : std::unexpected(compiled.error());
    EXPECT_TRUE(engine) << engine.error().text();
    return engine ? *engine : nullptr;
  }

  std::filesystem::path folder_;
};

bool packs_rows(const runtime::Engine& engine) { return std::ranges::any_of(engine.program().steps, runtime::is<runtime::RowsStep>); }

/// Token numbers where a name says ids, the mask, zeros for the rest.
std::vector<Tensor> inputs_for(const ir::Graph& graph, const std::vector<int64_t>& mask, int64_t length) {
  std::vector<Tensor> out;
  const auto count = static_cast<int64_t>(mask.size());
  for (const ir::ValueId v : graph.inputs()) {
    const std::string& name = graph.value(v).name;
    Tensor t = *Tensor::make(graph.value(v).type.dtype, {count / length, length});
    for (int64_t i = 0; i < count; ++i)
      t.set_integer(i, name == "attention_mask" ? mask[static_cast<size_t>(i)] : name == "input_ids" ? (7 * i + 3) % 50 : 0);
    out.push_back(std::move(t));
  }
  return out;
}

// One context for all: sizes that depend on data change from run to run.
TEST_P(Packed, SaysTheSameUnderEveryMask) {
  const auto graph = import();
  ASSERT_TRUE(graph);
  const auto packed = engine(*graph, true), padded = engine(*graph, false);
  ASSERT_TRUE(packed && padded);
  EXPECT_TRUE(packs_rows(*packed));
  EXPECT_FALSE(packs_rows(*padded));
  const auto one = *runtime::Context::create(packed), other = *runtime::Context::create(padded);
  const Masks masks = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                       {1, 1, 0, 0, 0, 1, 1, 1, 1, 0},
                       {0, 0, 0, 1, 1, 0, 0, 0, 0, 1},
                       {1, 0, 1, 0, 1, 0, 1, 0, 1, 1},
                       {0, 0, 0, 0, 0, 1, 1, 0, 0, 0},
                       {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                       {1, 1, 1, 0, 0}};
  for (const auto& mask : masks) {
    const auto inputs = inputs_for(*graph, mask, 5);
    const auto got = one->run(inputs), want = other->run(inputs);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_TRUE(want) << want.error().text();
    ASSERT_EQ((*got)[0].shape(), (*want)[0].shape());
    for (int64_t i = 0; i < (*want)[0].count(); ++i)
      ASSERT_NEAR((*got)[0].number(i), (*want)[0].number(i), 1e-5) << fmt::format("mask {}, element {}", fmt::join(mask, ""), i);
  }
}

INSTANTIATE_TEST_SUITE_P(Exports, Packed, testing::Values("torchscript.13", "torchscript.17", "dynamo.18", "dynamo.25"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace tenon::tests
