// SPDX-License-Identifier: Apache-2.0
// Maps that load along one axis and store along another: which go by squares, and that they give what the reference says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

size_t squares_in(const PlannedGraph& planned) {
  size_t found = 0;
  for (const auto& kernels : planned.kernels_by_group)
    for (const Kernel& k : kernels) {
      if (text_of(k.tile).find(" = transpose ") == std::string::npos) continue;
      EXPECT_EQ(k.work.loops[0].gathers, 0) << "no lane loads for itself";
      ++found;
    }
  return found;
}

/// Runs the graph in the interpreter and as machine code; "n" is 21. squares: so many kernels turn squares.
void runs(const std::string& text, size_t squares = 1) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text() << text;
  std::vector<Tensor> inputs;
  for (ir::ValueId v : (*graph)->inputs()) {
    Sizes sizes;
    for (Dim d : *(*graph)->value(v).type.shape) sizes.push_back(substitute(d, [](const DimNode&) { return Dim(21); }).value());
    inputs.push_back(*ops::random_tensor((*graph)->value(v).type.dtype, sizes, inputs.size() + 1));
  }
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (const char* target : {"x86_avx2", "x86_avx512"}) {
    const auto planned = planned_graph(**graph, {.verify = true}, **target_named(target));
    ASSERT_TRUE(planned) << planned.error().text();
    const bool short_rows = (*want)[0].dtype() != DType::f32 && std::string_view(target) == "x86_avx2";
    EXPECT_EQ(squares_in(*planned), short_rows ? 0 : squares) << target << "\n" << text_of(planned->plan);
    for (const bool native : {false, true}) {
      if (native && !cpu_features().has_all(planned->target.needs())) continue;
      const auto got = run(*planned, inputs, native);
      ASSERT_TRUE(got) << got.error().text();
      for (int64_t i = 0; i < (*want)[0].count(); ++i)
        ASSERT_EQ((*want)[0].number(i), (*got)[0].number(i)) << target << (native ? ", machine code" : "") << ", element " << i;
    }
  }
}

std::string transposed(std::string_view shape, std::string_view order, std::string_view dtype = "f32") {
  return fmt::format("graph main(x: {}[{}]) {{ y = Transpose(x, perm=[{}]) return y }}", dtype, shape, order);
}

TEST(Squares, WholeAndRaggedMatricesMatchReference) {
  for (const char* shape : {"16,32", "8,8", "9,70", "130,17", "n,33", "40,n"}) runs(transposed(shape, "1,0"));
}

TEST(Squares, AnyTwoAxesMatchReference) {
  runs(transposed("2,3,20,9", "0,2,3,1"), 0);  // three channels fill no square
  runs(transposed("2,24,5,7", "0,2,3,1"));     // channels to the end
  runs(transposed("2,5,7,24", "0,3,1,2"));     // and back
  runs(transposed("9,3,10,2", "2,1,0,3"), 0);  // pairs stay side by side
}

TEST(Squares, ShortTypesMatchReference) {
  for (const char* dtype : {"u8", "f16", "bf16", "i16"}) runs(transposed("3,35,18", "0,2,1", dtype));
}

TEST(Squares, MapsOfTransposedOperandsMatchReference) {
  runs("graph main(x: f32[19,40], b: f32[19], z: f32[40,19]) { t = Transpose(x, perm=[1,0]) s = Add(t, b) y = Mul(s, z) return y }");
  // A mask that lies as the numbers do is gathered, and they with it.
  runs(
      "graph main(x: f32[19,40], m: bool[19,40], z: f32[40,19]) {"
      "t = Transpose(x, perm=[1,0]) n = Transpose(m, perm=[1,0]) y = Where(n, t, z) return y }",
      0);
}

}  // namespace
}  // namespace tenon::codegen
