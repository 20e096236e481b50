// SPDX-License-Identifier: Apache-2.0
// Matrices of checkpoints in other formats than they were stored in.
#include "nn/checkpoint/stored_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "../files/temporary_folder.h"
#include "adapter_files.h"
#include "ir/uncast.h"
#include "nn/adapters/adapter.h"
#include "small_decoder.h"

namespace tenon::nn {
namespace {

using testing::RandomWeights;

ir::ConstantRef in_blocks(const ir::Constant& weight, const BlockFormat& format) {
  const Tensor values = *ir::materialise(weight);
  const auto bytes = static_cast<int64_t>(*block_bytes(format, static_cast<uint64_t>(values.count())));
  Tensor codes = *Tensor::make(DType::u8, {bytes});
  EXPECT_TRUE(quantize(format, values.as<float>(), {codes.mutable_data(), static_cast<size_t>(bytes)}));
  return ir::decode_blocks(std::move(codes), format, weight.shape);
}

/// A matrix of 300 rows is more than one task; rows of 48 elements are no whole blocks; k is in blocks of 4 bits, v of 8.
RandomWeights some_weights() {
  RandomWeights w;
  w.add("token_embd.weight", {5, 64});
  w.add("position_embd.weight", {8, 64});
  w.add("output_norm.weight", {64}, 1);
  w.add("blk.0.attn_q.weight", {1200, 64});
  w.add("blk.0.attn_q.bias", {1200});
  w.add("blk.0.ffn_down.weight", {64, 48});
  for (const auto& [name, format] : {std::pair{"blk.0.attn_k.weight", "Q4_0"}, {"blk.0.attn_v.weight", "Q8_0"}}) {
    w.add(name, {16, 64});
    w.set(name, in_blocks(*w.constant(name), *block_format_named(format)));
  }
  return w;
}

Checkpoint checkpoint_of(RandomWeights weights) { return {*family_of("llama"), {}, std::make_unique<RandomWeights>(std::move(weights))}; }

/// The block format of a weight; "" where it is not in blocks.
std::string format_name(const Checkpoint& of, std::string_view name) {
  const ir::ConstantRef weight = of.weights->constant(name);
  const auto* const blocks = std::get_if<ir::Constant::Blocks>(&weight->source);
  return blocks ? std::string(blocks->format->name) : "";
}

bool same_bits(const ir::Constant& a, const ir::Constant& b) {
  const Tensor x = *ir::materialise(a), y = *ir::materialise(b);
  return x.shape() == y.shape() && std::memcmp(x.data(), y.data(), static_cast<size_t>(x.byte_size())) == 0;
}

TEST(StoredWeights, MatricesOfProductsAreQuantized) {
  for (const auto& [as, format] : {std::pair{StoredWeights::int8, "Q8_0"}, {StoredWeights::int4, "Q4_0"}}) {
    SCOPED_TRACE(format);
    const RandomWeights before = some_weights();
    Checkpoint c = checkpoint_of(before);
    const auto report = store_weights(as, c);
    ASSERT_TRUE(report) << report.error().text();
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight", "token_embd.weight"}) {
      EXPECT_EQ(format_name(c, name), format) << name;
      EXPECT_EQ(c.weights->shape_of(name), before.shape_of(name));
      const bool was_so = name == std::string_view(as == StoredWeights::int8 ? "blk.0.attn_v.weight" : "blk.0.attn_k.weight");
      const ir::ConstantRef old = before.constant(name);
      const ir::ConstantRef want = was_so ? old : in_blocks(*old, *block_format_named(format));
      EXPECT_TRUE(same_bits(*c.weights->constant(name), *want)) << name;
    }
    for (const char* name : {"position_embd.weight", "output_norm.weight", "blk.0.attn_q.bias", "blk.0.ffn_down.weight"})
      EXPECT_EQ(format_name(c, name), "") << name;
    EXPECT_EQ(report->warnings,
              std::vector<std::string>{
                  "--weights: 1 matrices whose rows are no multiple of 32 elements stay as they are: blk.0.ffn_down.weight"});
    ASSERT_EQ(report->notes.size(), 1U);
    EXPECT_TRUE(report->notes[0].starts_with("quantized 3 matrices to " + std::string(format))) << report->notes[0];
  }
}

TEST(StoredWeights, AnEmbeddingThatIsLookedUpAloneStaysAsItIs) {
  RandomWeights w = some_weights();
  w.add("output.weight", {5, 64});
  Checkpoint c = checkpoint_of(std::move(w));
  ASSERT_TRUE(store_weights(StoredWeights::int8, c));
  EXPECT_EQ(format_name(c, "output.weight"), "Q8_0");
  EXPECT_EQ(format_name(c, "token_embd.weight"), "");
}

TEST(StoredWeights, KeepChangesNothing) {
  Checkpoint c = checkpoint_of(some_weights());
  const Weights* const before = c.weights.get();
  const auto report = store_weights(StoredWeights::keep, c);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->notes.empty() && report->warnings.empty());
  EXPECT_EQ(c.weights.get(), before);
}

TEST(StoredWeights, F32HasTheBitsOfTheBlocks) {
  Checkpoint c = checkpoint_of(some_weights());
  ASSERT_TRUE(store_weights(StoredWeights::f32, c));
  const RandomWeights before = some_weights();
  for (const char* name : {"blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.0.attn_q.weight"}) {
    EXPECT_EQ(format_name(c, name), "") << name;
    EXPECT_TRUE(same_bits(*c.weights->constant(name), *before.constant(name))) << name;
  }
}

TEST(StoredWeights, Bf16RoundsMatrices) {
  Checkpoint c = checkpoint_of(some_weights());
  ASSERT_TRUE(store_weights(StoredWeights::bf16, c));
  const RandomWeights before = some_weights();
  for (const char* name : {"blk.0.attn_k.weight", "blk.0.attn_q.weight", "token_embd.weight"}) {
    const ir::ConstantRef weight = c.weights->constant(name), stored = ir::uncast(*weight);
    ASSERT_TRUE(stored) << name;
    EXPECT_EQ(stored->dtype, DType::bf16) << name;
    const Tensor was = *ir::materialise(*before.constant(name)), is = *ir::materialise(*weight);
    for (int64_t i = 0; i < was.count(); i += 7) ASSERT_NEAR(is.number(i), was.number(i), std::abs(was.number(i)) / 256) << name << i;
  }
  EXPECT_FALSE(ir::uncast(*c.weights->constant("output_norm.weight")));
  ASSERT_TRUE(store_weights(StoredWeights::f32, c));
  EXPECT_FALSE(ir::uncast(*c.weights->constant("token_embd.weight")));
}

TEST(StoredWeights, WeightsThatCannotBeStoredSoAreErrors) {
  RandomWeights w = some_weights();
  std::vector<float> values(1200 * 64, 1);
  values[70'000] = std::numeric_limits<float>::infinity();
  w.set("blk.0.attn_q.weight", Tensor::of_f32({1200, 64}, values));
  Checkpoint infinite = checkpoint_of(std::move(w));
  const auto report = store_weights(StoredWeights::int4, infinite);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error()->place, "weight 'blk.0.attn_q.weight', element 70000");
}

TEST(StoredWeights, AdaptersAreMergedBefore) {
  const files::TemporaryFolder folder;
  const std::string key = "base_model.model.model.layers.0.self_attn.v_proj";
  const Tensor ones = Tensor::of_f32({1, 64}, std::vector<float>(64, 1)), column = Tensor::of_f32({16, 1}, std::vector<float>(16, 0.5F));
  testing::write_peft(folder / "a", R"({"peft_type": "LORA", "lora_alpha": 1})",
                      {{key + ".lora_A.weight", ones}, {key + ".lora_B.weight", column}});
  Checkpoint c = checkpoint_of(some_weights());
  const auto warnings = merge_adapters(std::vector{AdapterFile{folder / "a"}}, c);
  ASSERT_TRUE(warnings) << warnings.error().text();
  EXPECT_EQ(*warnings, std::vector<std::string>{"adapters change 1 tensors of blocks, which become f32: 0.0 MB more"});
  EXPECT_EQ(format_name(c, "blk.0.attn_v.weight"), "");
  ASSERT_TRUE(store_weights(StoredWeights::int8, c));
  EXPECT_EQ(format_name(c, "blk.0.attn_v.weight"), "Q8_0");
  const Tensor got = *ir::materialise(*c.weights->constant("blk.0.attn_v.weight")),
               old = *ir::materialise(*some_weights().constant("blk.0.attn_v.weight"));
  for (size_t i = 0; i < 16 * 64; ++i) ASSERT_NEAR(got.as<float>()[i], old.as<float>()[i] + 0.5F, 0.004) << i;
}

}  // namespace
}  // namespace tenon::nn
