// SPDX-License-Identifier: Apache-2.0
// Products of short types: taken in groups where the target has an instruction for them and the rows can be read so, one by one elsewhere,
// and never with another result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Numbers of constants: "1, -3, ...".
std::string numbers(int count, int least, int most) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("{}{}", i ? ", " : "", least + (i * 53 + i / 7) % (most - least + 1));
  return out;
}

std::vector<Tensor> inputs_of(const ir::Graph& graph, int64_t n) {
  std::vector<Tensor> out;
  for (ir::ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    Sizes sizes;
    for (Dim d : *type.shape) sizes.push_back(d.number().value_or(n));
    const bool whole = is_integer(type.dtype);
    out.push_back(*ops::random_tensor(type.dtype, sizes, out.size() + 1, whole ? (is_signed(type.dtype) ? -128 : 0) : -2, whole ? 255 : 2));
  }
  return out;
}

/// "groups" or "one by one", as the kernels say, once for each contraction.
std::string ways_of(const PlannedGraph& planned) {
  std::string out;
  for (const auto& kernels : planned.kernels_by_group)
    for (const Kernel& k : kernels) {
      const std::string text = text_of(k.tile);
      if (text.find(" = contract ") == text.npos) continue;
      out += out.empty() ? "" : ", ";
      out += text.find("products=") != text.npos ? "groups" : "one by one";
    }
  return out;
}

/// On a target with the instructions the tiles go `way`, on one without them one by one; both give what the reference says.
void runs(const std::string& text, const std::string& way, double tolerance = 0) {
  SCOPED_TRACE(text.substr(0, 160));
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  for (const char* name : {"x86_avx512_bf16", "x86_avx2"})
    for (const bool layouts : {true, false})
      for (const int64_t n : {5, 1}) {
        const Target& target = **target_named(name);
        const auto planned = planned_graph(**graph, {.channels_last = layouts, .verify = true}, target);
        ASSERT_TRUE(planned) << planned.error().text();
        const bool has_groups = target.multiply_add(DType::bf16, DType::bf16, DType::f32);
        if (layouts) EXPECT_EQ(ways_of(*planned), has_groups ? way : "one by one") << text_of(planned->plan);
        const auto inputs = inputs_of(**graph, n);
        const auto want = ops::evaluate(**graph, inputs);
        ASSERT_TRUE(want) << want.error().text();
        for (const bool native : {false, true}) {
          if (native && !cpu_features().has_all(target.needs())) continue;
          const auto got = run(*planned, inputs, native);
          ASSERT_TRUE(got) << got.error().text();
          for (int64_t i = 0; i < (*want)[0].count(); ++i)
            ASSERT_NEAR((*want)[0].number(i), (*got)[0].number(i), tolerance * std::max(1.0, std::abs((*want)[0].number(i))))
                << name << (native ? " native" : "") << " element " << i << "\n"
                << text_of(planned->plan);
        }
      }
}

TEST(ShortProducts, ByteProductsMatchReference) {
  runs("graph main(x: u8[n,64], w: i8[64,40]) { y = MatMulInteger(x, w) return y }", "groups");
  runs("graph main(x: u8[2,n,7], w: i8[2,7,5]) { y = MatMulInteger(x, w) return y }", "groups");
  runs("graph main(x: u8[3,n], w: i8[n,5]) { y = MatMulInteger(x, w) return y }", "groups");
  runs("graph main(x: u8[n,21]) { const w: i8[21,37] = [" + numbers(21 * 37, -128, 127) + "] y = MatMulInteger(x, w) return y }", "groups");
}

TEST(ShortProducts, SignedTimesUnsignedBytesMatchReference) {
  runs("graph main(x: i8[n,12], w: u8[12,40]) { y = MatMulInteger(x, w) return y }", "one by one");
}

/// Rows that walk the depth in larger steps are stored in order first.
TEST(ShortProducts, TransposedRowsMatchReference) {
  runs(R"(graph main(x: u8[10,n], w: i8[10,33]) {
    t = Transpose(x, perm=[1, 0])
    y = MatMulInteger(t, w)
    return y
  })",
       "groups");
}

/// Images with their channels innermost, as between convolutions.
std::string convolution(std::string_view op, const std::string& x, const std::string& w, std::string_view attributes = "") {
  return fmt::format(R"(graph main(x: {}{}) {{
    {}
    i = Transpose(x, perm=[0, 3, 1, 2])
    c = {}(i, w{})
    y = Transpose(c, perm=[0, 2, 3, 1])
    return y
  }})",
                     x, w.starts_with("const") ? "" : ", " + w, w.starts_with("const") ? w : "", op, attributes);
}

/// Three channels: each run of a window is filled up to whole groups.
TEST(ShortProducts, ByteConvolutionsMatchReference) {
  const auto weights = [](const std::string& shape, int count) {
    return "const w: i8[" + shape + "] = [" + numbers(count, -128, 127) + "]";
  };
  runs(convolution("ConvInteger", "u8[n,7,7,3]", weights("5,3,3,3", 135), ", pads=[1, 1, 1, 1], strides=[2, 1]"), "groups");
  runs(convolution("ConvInteger", "u8[n,8,7,3]", "w: i8[20,3,2,3]"), "groups");
  runs(convolution("ConvInteger", "u8[n,8,7,6]", "w: i8[20,6,2,3]", ", dilations=[1, 2]"), "groups");
  runs(convolution("ConvInteger", "u8[n,4,4,9]", weights("2,9,2,1", 36)), "groups");
}

TEST(ShortProducts, ByteProductsWithEpilogueMatchReference) {
  runs("graph main(x: u8[n,40], s: f32[24]) { const w: i8[40,24] = [" + numbers(960, -100, 100) +
           "] p = MatMulInteger(x, w) f = Cast(p, to=1) y = Mul(f, s) return y }",
       "groups", 1e-6);
}

TEST(ShortProducts, HalfFloatsMatchReference) {
  constexpr double kOfBf16 = 0.01;
  runs("graph main(x: bf16[n,64], w: bf16[64,40]) { y = MatMul(x, w) return y }", "groups", kOfBf16);
  runs("graph main(x: f32[n,8], w: f32[8,40]) { a = Cast(x, to=16) b = Cast(w, to=16) y = MatMul(a, b) return y }", "groups", kOfBf16);
  runs(convolution("Conv", "bf16[n,6,6,2]", "w: bf16[4,2,3,3]", ", pads=[1, 1, 1, 1]"), "groups", kOfBf16);
}

/// What a group would read behind its run might be no number, and no number times zero is none.
TEST(ShortProducts, OddDepthsOfHalfFloatsMatchReference) {
  runs("graph main(x: bf16[n,7], w: bf16[7,40]) { y = MatMul(x, w) return y }", "one by one", 0.01);
  runs("graph main(x: bf16[3,n], w: bf16[n,5]) { y = MatMul(x, w) return y }", "one by one", 0.01);
}

TEST(ShortProducts, SlicedDepthMatchesReference) {
  runs("graph main(x: u8[n,16391], w: i8[16391,3]) { y = MatMulInteger(x, w) return y }", "groups");
}

}  // namespace
}  // namespace tenon::codegen
