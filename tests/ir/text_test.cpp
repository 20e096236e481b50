// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fake_ops.h"
#include "ir/verify.h"

namespace tenon::ir {
namespace {

struct TextTest : testing::Test {
  fake::Table ops;

  std::string again(std::string_view text, const TextConstants* in = nullptr) {
    auto g = parse(text, ops, in);
    if (!g) return g.error().text();
    auto checked = verify(**g);
    if (!checked) return checked.error().text();
    return print(**g);
  }
  void same_again(std::string_view text) { EXPECT_EQ(again(text), text); }
  Diagnostic refused(std::string_view text) {
    auto g = parse(text, ops);
    EXPECT_FALSE(g) << text;
    return g ? Diagnostic{} : *g.error();
  }
};

TEST_F(TextTest, OutputsWithoutNamesThatReturnOneValueGetOneEach) {
  Graph g(ops);
  const ValueId x = g.add_input("x", Type(DType::f32, {2}));
  const ValueId y = g.node(g.insert(*ops.find("", "Relu"), {x}, 1)).outputs[0];
  g.add_output(y);
  g.add_output(y, "v0_2");
  g.add_output(y);
  const std::string text = print(g);
  EXPECT_NE(text.find("return v0, v0 as v0_2, v0 as v0_3"), std::string::npos) << text;
  EXPECT_TRUE(parse(text, ops));
}

TEST_F(TextTest, PrintsWhatItParsed) {
  same_again(R"(graph main(x: f32[batch,64], mask: bool[batch]) {
  opset "" = 17
  opset "com.microsoft" = 1
  const w: f32[2,2] = [1, 2, 3, 4]
  const s: string[2] = ["a\nb", "\"q\" \\"]
  h: f32[batch,64] = Gemm(x, w, _, alpha=0.5, transB=1) @"fc/1"
  _, b: f32[floordiv(batch, 2),64] = com.example::Split2(h)
  () = Print(b)
  return b, h as logits, x as x2
}
)");
}

TEST_F(TextTest, InfersTypesThatAreLeftOut) {
  EXPECT_EQ(again("graph(x: f32[4]) { y = Relu(x) a, b = Split(y) return a, b }"), R"(graph(x: f32[4]) {
  y: f32[4] = Relu(x)
  a: f32[2], b: f32[2] = Split(y)
  return a, b
}
)");
}

TEST_F(TextTest, NamesUnnamedValues) {
  Graph g(ops);
  ValueId x = g.add_input("v0", Type(DType::f32, {}));
  NodeId n = g.insert(ops["Relu"], {x}, 1);
  ASSERT_TRUE(infer(g, n));
  g.add_output(g.node(n).outputs[0]);
  std::string text = print(g);
  EXPECT_EQ(text, "graph(v0: f32[]) {\n  v1: f32[] = Relu(v0)\n  return v1\n}\n");
  same_again(text);
}

TEST_F(TextTest, QuotesNamesThatAreNone) {
  same_again(
      R"(graph "my net"("1": f32[], "a b": f32["batch size"], "_": f32[], "é\x01": f32[], /m/l.0/x-1: f32[], "//c": f32[], "const": f32[]) {
  "x:y": f32[] = Relu("1")
  return "x:y"
}
)");
}

TEST_F(TextTest, KeepsAttributesOfAllKinds) {
  same_again(R"(graph(x: f32[]) {
  y: f32[] = Relu(x, a=1, b=1.0, c=-inf, d=nan, e="s\t", f=[1, -2], g=[1.0, 0.1], h=["x", "y"], i=[], j=floats[], k=strings[], l=i64[2] = [1, 2], m=-9223372036854775808, n=1e-45, o=f16[] = [inf], p=none, "q r"=1e+20)
  return y
}
)");
  auto g = parse("graph(x: f32[]) { y = Relu(x, n=1e-45, l=[0.1, 3]) return y }", ops);
  EXPECT_FALSE(g) << "a list of both kinds";
}

TEST_F(TextTest, KeepsEveryElement) {
  same_again(R"(graph() {
  const a: f32[5] = [0.1, -0, inf, nan, 1.1754944e-38]
  const b: f64[2] = [0.1, 1e-323]
  const c: f16[3] = [0.099975586, 65504, -inf]
  const d: bf16[2] = [0.100097656, nan]
  const e: f8e5m2[3] = [inf, 57344, -0.25]
  const f: f8e4m3fn[2] = [448, nan]
  const g: i8[2] = [-128, 127]
  const h: u64[1] = [18446744073709551615]
  const i: i4[3] = [-8, 7, 0]
  const j: bool[2] = [true, false]
  const k: c64[1] = [(1, -2.5)]
  const l: f32[0,3] = []
  const m: i64[] = [7]
  return
}
)");
}

TEST_F(TextTest, ReadsBareScalarsNestedListsAndSplats) {
  EXPECT_EQ(again("graph() { const a: i64[] = 3 const b: i32[2,2] = [[1, 2], [3, 4]] const c: f16[3] = splat(0.5) return a, b, c }"),
            R"(graph() {
  const a: i64[] = [3]
  const b: i32[2,2] = [1, 2, 3, 4]
  const c: f16[3] = [0.5, 0.5, 0.5]
  return a, b, c
}
)");
}

TEST_F(TextTest, KeepsBodiesAndCaptures) {
  same_again(R"(graph(c: bool[], h: f32[n], k: f32[n]) {
  r: f32[n] = If(c) then_branch={
    graph(h: f32[n]) {
      const one: f32[] = [1]
      q: f32[n] = Relu(h)
      return q
    }
  } captures=[h] else_branch={
    graph inner(a: f32[n], c: bool[]) {
      q: f32[] = If(c) only={
        graph() {
          const z: f32[] = [0]
          return z
        }
      }
      return q
    }
  } captures=[k, c]
  return r
}
)");
}

TEST_F(TextTest, InfersInsideBodiesFromOutside) {
  EXPECT_EQ(again("graph(c: i64[], x: f32[n]) { r = Repeat(c, x) body={ graph(a, b) { s = Add(a, b) return s } } captures=[x] return r }"),
            R"(graph(c: i64[], x: f32[n]) {
  r: f32[n] = Repeat(c, x) body={
    graph(a: f32[n], b: f32[n]) {
      s: f32[n] = Add(a, b)
      return s
    }
  } captures=[x]
  return r
}
)");
}

TEST_F(TextTest, KeepsSymbolOrderAndBounds) {
  same_again(R"(symbol batch in 1 to 8, seq
graph(a: f32[seq,batch], b: f32[batch*seq + 1]) {
  return a, b
}
)");
  EXPECT_EQ(again("symbol batch graph() { return }"), "graph() {\n  return\n}\n");
}

TEST_F(TextTest, KeepsDataDependentSizes) {
  same_again("graph(x: f32[3]) {\n  y: i64[1,u0] = NonZero(x)\n  z: i64[1,u0] = Relu(y)\n  return z\n}\n");
}

TEST_F(TextTest, LargeConstantsAreOutsideTheText) {
  std::string text = "graph() {\n  const w: f32[100] = splat(2)\n  return w\n}\n";
  auto g = parse(text, ops);
  ASSERT_TRUE(g) << g.error().text();
  EXPECT_EQ(print(**g), text);
  TextConstants big;
  std::string numbered = print(**g, &big);
  EXPECT_EQ(numbered, "graph() {\n  const w: f32[100] = @0\n  return w\n}\n");
  ASSERT_EQ(big.constants.size(), 1u);
  auto back = parse(numbered, ops, &big);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ((*back)->value((*back)->find_value("w")).constant, big.constants[0]);
  EXPECT_FALSE(parse(numbered, ops));
}

TEST_F(TextTest, LargeTensorAttributesAreOutsideTheTextAndStringsInside) {
  Graph g(ops);
  const ValueId x = g.add_input("x", Type(DType::f32, {2}));
  const Tensor numbers = *Tensor::make(DType::i4, {99}), texts = *Tensor::make(DType::string, {99});
  Attributes attributes;
  attributes.set("k", numbers);
  attributes.set("t", texts);
  const NodeId n = g.insert(*ops.find("", "Relu"), {x}, 1, std::move(attributes));
  ASSERT_TRUE(infer(g, n));
  g.add_output(g.node(n).outputs[0], "y");
  TextConstants big;
  const std::string text = print(g, &big);
  EXPECT_NE(text.find("k=i4[99] = @0"), text.npos) << text;
  ASSERT_EQ(big.constants.size(), 1u);
  const auto back = parse(text, ops, &big);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ((*back)->node(*(*back)->nodes().begin()).attributes, g.node(n).attributes);
}

TEST_F(TextTest, ErrorsNamePlaceAndExpectation) {
  Diagnostic d = refused("graph(x: f32[4]) {\n  y = Relu(z)\n  return y\n}");
  EXPECT_EQ(d.code, Code::bad_graph);
  EXPECT_EQ(d.place, "line 2, column 12");
  EXPECT_EQ(d.found, "`z`");
  d = refused("graph(x: f32[4]) {\n  y = Nothing(x)\n  return y\n}");
  EXPECT_EQ(d.place, "line 2, column 7");
  EXPECT_EQ(d.found, "Nothing");
  d = refused("graph(x: f32[4]) {\n  x = Relu(x)\n  return x\n}");
  EXPECT_EQ(d.place, "line 2, column 3");
  d = refused("graph(x: f32[4]) {\n  y = Add(x)\n  return y\n}");
  EXPECT_EQ(d.place, "line 2, column 3: node 'y' (Add)");
  EXPECT_EQ(d.expected, "2");
  d = refused("graph() { const c: i8[2] = [1, 200] return }");
  EXPECT_EQ(d.place, "line 1, column 32");
  d = refused("graph() { const c: i8[2] = [1] return }");
  EXPECT_EQ(d.expected, "2");
  d = refused("graph(x: f32[4]) { y: f32[5] = Relu(x) return y }");
  EXPECT_EQ(d.expected, "f32[4]");
  EXPECT_EQ(d.found, "f32[5]");
  EXPECT_EQ(refused("graph(x: f33[4]) { return x }").found, "`f33`");
  EXPECT_EQ(refused("graph(x: f32[4) { return x }").expected, "`]`");
  EXPECT_EQ(refused("graph(x: f32[-1]) { return x }").found, "`-1`");
  EXPECT_EQ(refused("graph(x) { return \"x }").code, Code::bad_graph);
  EXPECT_EQ(refused("graph(x, x) { return x }").place, "line 1, column 10");
  d = refused("graph(x, y) { return x, y as x }");
  EXPECT_EQ(d.code, Code::bad_graph);
  EXPECT_EQ(d.place, "line 1, column 25");
  EXPECT_NE(d.what.find("'x'"), std::string::npos);
  EXPECT_EQ(refused("graph(x) { return x, x }").place, "line 1, column 22");
  EXPECT_TRUE(parse("graph(x) { return x, x as y }", ops));
  EXPECT_EQ(refused("").found, "the end of the text");
}

TEST_F(TextTest, HasLimits) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "graph() { r = If(x) body={ ";
  EXPECT_FALSE(parse("graph(x) { r = If(x) b={ graph(x) {" + deep, ops));
  std::string nested = "graph(x: bool[]) { r = If(x) b={ ";
  for (int i = 0; i < 150; ++i) nested += "graph(x) { r = If(x) b={ ";
  EXPECT_EQ(refused(nested).code, Code::limit_exceeded);
  EXPECT_EQ(refused("graph() { const c: f32[1000000000] = splat(0) return }").code, Code::limit_exceeded);
  EXPECT_FALSE(parse("graph() { const c: f32[4611686018427387904,8] = [] return }", ops));
  EXPECT_FALSE(parse("graph() { const c: f32[2] = " + std::string(100'000, '['), ops));
}

TEST_F(TextTest, PrintsTypes) {
  Symbols symbols;
  EXPECT_EQ(Type(DType::f32, {symbols.symbol("b"), 3}).text(), "f32[b,3]");
  EXPECT_EQ(Type(DType::i64).text(), "i64[*]");
  EXPECT_EQ(Type().text(), "?");
  Type list(DType::f32);
  list.kind = Type::Kind::sequence;
  EXPECT_EQ(list.text(), "seq(f32[*])");
  same_again("graph(a: map(string,f32), b: seq(map(i64,f64))) {\n  return a\n}\n");
  same_again("graph(a: seq(f32[*]), b: optional(i64[2]), c, d: ?[3], e: optional(seq(f32[2]))) {\n  return a\n}\n");
}

TEST_F(TextTest, ParseStructureNeedsNoBytesAndInfersNothing) {
  const char* text = R"(graph main(x: f32[n,100]) {
  const few: f32[2] = [1, 2]
  const many: f32[100] = digest("0123456789abcdef")
  const lazy: f32[100] = digest("lazy")
  const equal: f32[1000000000,1000] = splat(0.5)
  const beside: i4[3] = @7
  a: f32[n,100] = Add(x, many)
  b: f32[7,n] = Add(a, equal, table=i64[70] = digest("fedcba9876543210"))
  return b
}
)";
  EXPECT_FALSE(parse(text, ops));
  const auto g = parse_structure(text, ops);
  ASSERT_TRUE(g) << g.error().text();
  const auto constant = [&](const char* name) { return (*g)->value((*g)->find_value(name)).constant; };
  EXPECT_FALSE(constant("few")->unread());
  for (const char* name : {"many", "lazy", "equal", "beside"}) EXPECT_TRUE(constant(name)->unread()) << name;
  EXPECT_EQ(constant("equal")->shape, (Sizes{1000000000, 1000}));
  EXPECT_EQ(constant("beside")->dtype, DType::i4);
  EXPECT_EQ((*g)->value((*g)->find_value("b")).type.text(), "f32[7,n]");
  EXPECT_NE(print(**g).find("table=\"i64[70], not in this text\""), std::string::npos) << print(**g);
}

TEST_F(TextTest, ParseStructureRefusesWhatPrintDoesNotWrite) {
  for (const char* constant : {"f32[100] = digest(", "f32[100] = digest", "f32[n] = digest(\"a\")", "f32[100] = splat(x)", "f32[100] = @x",
                               "f32[4611686018427387904,4] = @1", "? = digest(\"a\")", "f32[3] = [1]"}) {
    const auto g = parse_structure(std::string("graph main(x: f32[n]) { const w: ") + constant + " return x }", ops);
    EXPECT_FALSE(g) << constant;
  }
}

}  // namespace
}  // namespace tenon::ir
