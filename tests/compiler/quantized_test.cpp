// SPDX-License-Identifier: Apache-2.0
// Quantized networks in whole engines: layers between DequantizeLinear and QuantizeLinear, and products that are quantized at the run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "../random_blocks.h"
#include "helpers.h"
#include "ir/builder.h"
#include "ir/quantized/storage.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "passes/pipeline.h"

namespace tenon::compiler {
namespace {

std::string weights(std::string_view name, std::string_view dtype, int64_t outputs, const Sizes& rest) {
  int64_t count = outputs;
  std::string shape = std::to_string(outputs), values;
  for (const int64_t s : rest) {
    count *= s;
    shape += fmt::format(",{}", s);
  }
  const int64_t middle = dtype == "u8" ? 128 : 0;
  for (int64_t k = 0; k < count; ++k) values += fmt::format("{}{}", k ? ", " : "", middle + k * 31 % 201 - 100);
  return fmt::format("const {}: {}[{}] = [{}]\n", name, dtype, shape, values);
}

/// Two convolutions of odd channels, a residual, and a dense layer behind the mean of the image.
std::string network(std::string_view activations) {
  const bool is_signed = activations == "i8";
  std::string text =
      fmt::format("graph main(x: f32[n,3,7,6]) {{\nconst s: f32[] = [0.031]\nconst z: {}[] = [{}]\n", activations, is_signed ? -5 : 120);
  text += fmt::format("const low: {}[] = [{}]\nconst r: f32[] = [0.05]\n", activations, is_signed ? -128 : 0);
  text += weights("w", "i8", 5, {3, 3, 3}) + weights("v", "i8", 5, {5, 3, 3}) + weights("d", "i8", 5, {4});
  text += R"(const sw: f32[5] = [0.002, 0.003, 0.001, 0.004, 0.002]
    const sd: f32[] = [0.01]
    const bias: i32[5] = [100, -200, 300, 0, 7]
    const sb: f32[5] = [0.000062, 0.000093, 0.000031, 0.000124, 0.000062]
    const axes: i64[2] = [2, 3]
    q = QuantizeLinear(x, s, z)
    dq = DequantizeLinear(q, s, z)
    dw = DequantizeLinear(w, sw, axis=0)
    db = DequantizeLinear(bias, sb, axis=0)
    c = Conv(dq, dw, db, pads=[1,1,1,1], strides=[2,1])
    cr = Relu(c)
    cq = QuantizeLinear(cr, r, low)
    cd = DequantizeLinear(cq, r, low)
    dv = DequantizeLinear(v, sw, axis=0)
    e = Conv(cd, dv, pads=[2,2,2,2], dilations=[2,2])
    eq = QuantizeLinear(e, s, z)
    ed = DequantizeLinear(eq, s, z)
    a = Add(ed, cd)
    aq = QuantizeLinear(a, r, z)
    ad = DequantizeLinear(aq, r, z)
    m = ReduceMean(ad, axes, keepdims=0)
    mq = QuantizeLinear(m, r, z)
    md = DequantizeLinear(mq, r, z)
    dd = DequantizeLinear(d, sd)
    y = MatMul(md, dd)
    return y, aq
  })";
  return text;
}

/// Exact but for decisions at ties: a byte may be its neighbour, seldom.
void expect_neighbours(const Tensor& want, const Tensor& got, std::string_view what) {
  ASSERT_EQ(want.shape(), got.shape());
  int64_t moved = 0;
  for (int64_t k = 0; k < want.count(); ++k) {
    ASSERT_NEAR(want.number(k), got.number(k), 1) << what << ", element " << k;
    moved += want.number(k) != got.number(k);
  }
  EXPECT_LE(moved * 50, want.count()) << what;
}

TEST(Quantized, NetworksGiveTheBytesOfTheReference) {
  for (const std::string_view activations : {"u8", "i8"})
    for (const int opt : {0, 3}) {
      const std::string text = network(activations);
      const auto engine = testing::engine_of(text, opt);
      ASSERT_TRUE(engine) << engine.error().text();
      const auto context = runtime::Context::create(*engine);
      for (const int64_t n : {0, 1, 3}) {
        const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {n, 3, 7, 6}, 5 + static_cast<uint64_t>(n))};
        const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs), got = testing::copied_results(**context, inputs);
        ASSERT_TRUE(want) << want.error().text();
        ASSERT_TRUE(got) << got.error().text();
        const std::string what = fmt::format("{}, opt {}, n={}", activations, opt, n);
        expect_neighbours((*want)[1], (*got)[1], what);
        for (int64_t k = 0; k < (*want)[0].count(); ++k) ASSERT_NEAR((*want)[0].number(k), (*got)[0].number(k), 0.06) << what;
      }
    }
}

TEST(Quantized, ProductsOfDataThatIsQuantizedAtTheRunGiveWhatTheReferenceSays) {
  const std::string text = "graph main(x: f32[m,9]) {\n" + weights("w", "i8", 9, {21}) + R"(const c: f32[] = [0.01]
    q, s, z = DynamicQuantizeLinear(x)
    p = MatMulInteger(q, w, z)
    f = Cast(p, to=1)
    t = Mul(s, c)
    y = Mul(f, t)
    return y
  })";
  for (const int64_t m : {1, 2, 70}) {
    const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {m, 9}, 4)};
    const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs);
    const auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, 3);
    ASSERT_TRUE(want && got) << (got ? "" : got.error().text());
    EXPECT_EQ(testing::difference((*want)[0], (*got)[0], 20), "") << "m=" << m;
  }
}

/// A row that is looked up and products of few and many rows, beside sums in fp64 of decoded weights.
void check_blocks(const BlockFormat& format) {
  const int64_t depth = std::max<int64_t>(96, int64_t{2} * format.elements), lanes = 50;
  const ir::ConstantRef w = tests::random_blocks(format, lanes, depth, 7);
  auto graph = std::make_unique<ir::Graph>(ops::table());
  ir::Builder build(*graph);
  const ir::ValueId x = graph->add_input("x", ir::Type(DType::f32, {graph->symbols().symbol("n"), depth}));
  const ir::ValueId ids = graph->add_input("ids", ir::Type(DType::i64, {3}));
  graph->add_output(build("MatMul", {x, build.constant(ir::permute(w, {1, 0}))}), "y");
  graph->add_output(build("Gather", {build.constant(w), ids}), "rows");
  ASSERT_TRUE(build.status()) << build.status().error().text();
  const auto engine = testing::engine_of(std::move(graph), 3);
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  ASSERT_TRUE(context) << context.error().text();
  const Tensor decoded = *ir::materialise(*w), chosen = Tensor::of_i64({3}, std::vector<int64_t>{49, 0, 17});
  for (const int64_t n : {1, 7, 40}) {
    const Tensor rows = *ops::random_tensor(DType::f32, {n, depth}, static_cast<uint64_t>(n), -1, 1);
    const auto got = testing::copied_results(**context, std::vector{rows, chosen});
    ASSERT_TRUE(got) << got.error().text();
    for (int64_t k = 0; k < n * lanes; ++k) {
      double sum = 0;
      for (int64_t i = 0; i < depth; ++i) sum += rows.number(k / lanes * depth + i) * decoded.number(k % lanes * depth + i);
      ASSERT_NEAR(got->at(0).number(k), sum, 1e-4) << n << " rows, element " << k;
    }
    for (int64_t k = 0; k < 3 * depth; ++k)
      ASSERT_EQ(got->at(1).number(k), decoded.number(static_cast<int64_t>(chosen.number(k / depth)) * depth + k % depth)) << k;
  }
}

TEST(Blocks, OfAllFormatsAreProductsAndRowsOfDecodedWeights) {
  for (const BlockFormat* format : block_formats()) {
    SCOPED_TRACE(format->name);
    if (format->linear) check_blocks(*format);
  }
}

/// A constant of integers that repeat slowly.
std::string codes(std::string_view name, std::string_view type, int64_t count, int64_t least, int64_t range) {
  std::string values;
  for (int64_t k = 0; k < count; ++k) values += fmt::format("{}{}", k ? ", " : "", least + (k * 7 + k / 11) % range);
  return fmt::format("const {}: {} = [{}]\n", name, type, values);
}
std::string scales(std::string_view name, std::string_view type, int64_t count) {
  std::string values;
  for (int64_t k = 0; k < count; ++k) values += fmt::format("{}{}", k ? ", " : "", 0.0013 * static_cast<double>(k % 13 + 1));
  return fmt::format("const {}: {} = [{}]\n", name, type, values);
}

/// Products and rows of weights in groups, as exporters write them. The one that is transposed is too large to be computed at once.
std::string grouped_network() {
  return "graph main(x: f32[m,96], v: f32[m,256], i: i64[3]) {\n" + codes("w1", "u8[21,3,16]", 21 * 48, 0, 256) +
         scales("s1", "f32[63]", 63) + codes("z1", "u8[21,2]", 42, 1, 255) + scales("bias", "f32[21]", 21) +
         codes("w2", "u8[21,2,64]", 21 * 128, 0, 256) + scales("s2", "f32[21,2]", 42) + codes("w3", "u8[21,4,64]", 21 * 256, 0, 256) +
         scales("s3", "f32[84]", 84) + codes("z3", "u8[84]", 84, 0, 256) + scales("s4", "f32[21,2]", 42) + scales("z4", "f32[21,2]", 42) +
         codes("w5", "i4[96,21]", 96 * 21, -8, 16) + scales("s5", "f32[3,21]", 63) + codes("z5", "i4[3,21]", 63, -8, 16) +
         codes("w6", "u8[171,96]", 96 * 171, 0, 256) + scales("s6", "f32[171,3]", 513) + codes("w7", "u8[21,128]", 21 * 128, 0, 256) +
         scales("s7", "f32[21,4]", 84) + codes("z7", "u8[21,2]", 42, 0, 256) + R"(
    a = com.microsoft::MatMulNBits(x, w1, s1, z1, _, bias, K=96, N=21, block_size=32)
    b = com.microsoft::MatMulNBits(v, w2, s2, K=256, N=21, block_size=128)
    c = com.microsoft::MatMulNBits(v, w3, s3, z3, K=256, N=21, block_size=64, bits=8)
    d = com.microsoft::MatMulNBits(v, w2, s4, z4, K=256, N=21, block_size=128)
    d5 = DequantizeLinear(w5, s5, z5, axis=0, block_size=32)
    e = MatMul(x, d5)
    d6 = DequantizeLinear(w6, s6, axis=1, block_size=32)
    t6 = Transpose(d6, perm=[1,0])
    f = MatMul(x, t6)
    g = com.microsoft::GatherBlockQuantized(w7, i, s7, z7, block_size=64)
    return a, b, c, d, e, f, g
  })";
}

TEST(Blocks, WeightsInGroupsAreNotUnpackedInEachRun) {
  const std::string text = grouped_network();
  const auto optimised = *ir::parse(text, ops::table());
  ASSERT_TRUE(passes::optimise(*optimised, {}));
  std::set<std::string_view> formats;
  for (const ir::ValueId v : optimised->values())
    if (const auto& constant = optimised->value(v).constant)
      if (const BlockFormat* const format = ir::storage_of(*constant).blocks) formats.insert(format->name);
  EXPECT_EQ(formats, (std::set<std::string_view>{"G4_32_1", "G4_128_0", "G8_64_1", "G4_128_1", "G8_32_1", "G4_64_1"}));
  const auto engine = testing::engine_of(text, 3);
  ASSERT_TRUE(engine) << engine.error().text();
  const auto context = runtime::Context::create(*engine);
  for (const int64_t m : {1, 3, 40}) {
    const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {m, 96}, 3, -1, 1),
                                     *ops::random_tensor(DType::f32, {m, 256}, 4, -1, 1),
                                     Tensor::of_i64({3}, std::vector<int64_t>{20, -21, 5})};
    const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs), got = testing::copied_results(**context, inputs);
    ASSERT_TRUE(want) << want.error().text();
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k)
      for (int64_t j = 0; j < (*want)[k].count(); ++j)
        ASSERT_NEAR((*want)[k].number(j), (*got)[k].number(j), 1e-5 * std::max(1.0, std::abs((*want)[k].number(j))))
            << "result " << k << ", m=" << m << ", element " << j;
  }
}

}  // namespace
}  // namespace tenon::compiler
