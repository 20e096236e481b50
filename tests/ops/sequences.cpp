// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals by reference: inference, both modes, control flow, refusals.
#include <gtest/gtest.h>

#include "ir/literal.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/infer/verify_types.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

Tensor floats(Sizes shape, std::vector<float> data) { return Tensor::of_f32(std::move(shape), data); }
Tensor number(int64_t value) { return Tensor::of_i64({}, {&value, 1}); }
Tensor sequence(std::vector<Tensor> elements) { return Tensor::of_elements(DType::sequence, std::move(elements)); }
Tensor optional(std::vector<Tensor> elements) { return Tensor::of_elements(DType::optional, std::move(elements)); }

/// All results as text, or the text of the error.
Result<std::vector<Tensor>> run(std::string_view text, const std::vector<Tensor>& inputs, Mode mode = Mode::declared) {
  auto graph = TRY(ir::parse(text, table()));
  TRY(verify_types(*graph));
  EvaluateOptions options;
  options.mode = mode;
  return evaluate(*graph, inputs, options);
}

void expect_result(std::string_view text, const std::vector<Tensor>& inputs, const Tensor& want) {
  const auto got = run(text, inputs);
  ASSERT_TRUE(got) << text << '\n' << got.error().text();
  EXPECT_TRUE(ir::same((*got)[0], want)) << text << '\n' << type_text((*got)[0]);
}

void expect_error(std::string_view text, const std::vector<Tensor>& inputs, Code code, std::string_view words) {
  const auto got = run(text, inputs);
  ASSERT_FALSE(got) << text;
  EXPECT_EQ(got.error().code(), code) << got.error().text();
  EXPECT_NE(got.error().text().find(words), std::string::npos) << got.error().text();
}

std::string type_of_output(std::string_view text) {
  auto graph = ir::parse(text, table());
  EXPECT_TRUE(graph) << text << '\n' << graph.error().text();
  return graph ? (*graph)->value((*graph)->outputs()[0]).type.text() : "";
}

const Tensor a = floats({2}, {1, 2}), b = floats({3}, {3, 4, 5}), c = floats({1}, {6});

TEST(Variadic, OperandsCannotBeLeftOut) {
  const Tensor x = floats({2}, {1, 2}), s = sequence({x});
  expect_error("graph(x: f32[2]) { y = Concat(x, _, x, axis=0) return y }", {x}, Code::bad_graph, "operand 1 is missing");
  expect_error("graph(x: f32[2]) { y = Sum(x, _, x) return y }", {x}, Code::bad_graph, "operand 1 is missing");
  expect_error("graph(x: f32[2]) { y = SequenceConstruct(_, x) return y }", {x}, Code::bad_graph, "missing");
  expect_error("graph(s: seq(f32[2])) { y = SequenceMap(s, _) body={ graph(e: f32[2], q: f32[2]) { r = Relu(e) return r } } return y }",
               {s}, Code::bad_graph, "operand 1 is missing");
}

TEST(Bodies, MustHaveTheFormalInputsOfTheirOp) {
  const Tensor x = floats({2}, {1, 2}), yes = *Tensor::make(DType::boolean, {});
  const char* message = "another number of inputs";
  expect_error("graph(x: f32[2]) { y = Scan(x, num_scan_inputs=1) body={ graph(e: f32[], q: f32[2]) { r = Relu(e) return r } } return y }",
               {x}, Code::bad_graph, message);
  expect_error("graph(x: f32[2]) { y = Scan(x, num_scan_inputs=1) body={ graph() { const r: f32[] = [1] return r } } return y }", {x},
               Code::bad_graph, message);
  expect_error("graph(c: bool[], n: i64[]) { y = Loop(n, c) body={ graph(i: i64[], g: bool[], q: f32[2]) { return g, q } } return y }",
               {yes, number(1)}, Code::bad_graph, message);
  expect_error(
      "graph(c: bool[], x: f32[2]) { y = If(c) then_branch={ graph(e: f32[2]) { return e } } captures=[x] "
      "else_branch={ graph(e: f32[2]) { return e } } return y }",
      {yes, x}, Code::bad_graph, message);
  expect_error("graph(s: seq(f32[2])) { y = SequenceMap(s) body={ graph() { const r: f32[] = [1] return r } } return y }", {sequence({x})},
               Code::bad_graph, message);
}

TEST(Sequences, HoldTensorsOfDifferentShapes) {
  expect_result("graph(x: f32[2], y: f32[3], i: i64[]) { s = SequenceConstruct(x, y) r = SequenceAt(s, i) return r }", {a, b, number(-1)},
                b);
  expect_result("graph(x: f32[2], y: f32[3]) { s = SequenceConstruct(x, y) return s }", {a, b}, sequence({a, b}));
  EXPECT_EQ(type_of_output("graph(x: f32[2,4], y: f32[2,4]) { s = SequenceConstruct(x, y) return s }"), "seq(f32[2,4])");
  EXPECT_EQ(type_of_output("graph(x: f32[2], y: f32[]) { s = SequenceConstruct(x, y) return s }"), "seq(f32[*])");
}

TEST(Sequences, ChangeOneElement) {
  const Tensor all = sequence({a, b});
  expect_result("graph(s: seq(f32[n]), x: f32[1]) { r = SequenceInsert(s, x) return r }", {all, c}, sequence({a, b, c}));
  expect_result("graph(s: seq(f32[n]), x: f32[1], i: i64[]) { r = SequenceInsert(s, x, i) return r }", {all, c, number(-1)},
                sequence({a, c, b}));
  expect_result("graph(s: seq(f32[n]), x: f32[1], i: i64[]) { r = SequenceInsert(s, x, i) return r }", {all, c, number(2)},
                sequence({a, b, c}));
  expect_result("graph(s: seq(f32[n])) { r = SequenceErase(s) return r }", {all}, sequence({a}));
  expect_result("graph(s: seq(f32[n]), i: i64[]) { r = SequenceErase(s, i) return r }", {all, number(0)}, sequence({b}));
  expect_result("graph(s: seq(f32[n])) { r = SequenceLength(s) return r }", {all}, number(2));
  expect_result("graph() { s = SequenceEmpty(dtype=7) r = SequenceLength(s) return r }", {}, number(0));
}

TEST(Sequences, AreSplitAndJoined) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor left = floats({2, 2}, {1, 2, 4, 5}), right = floats({2, 1}, {3, 6});
  expect_result("graph(x: f32[2,3]) { const n: i64[] = [2] s = SplitToSequence(x, n, axis=1) return s }", {x}, sequence({left, right}));
  expect_result("graph(x: f32[2,3]) { const n: i64[2] = [2, 1] s = SplitToSequence(x, n, axis=-1, keepdims=0) return s }", {x},
                sequence({left, right}));
  expect_result("graph(x: f32[2,3]) { s = SplitToSequence(x, keepdims=0) return s }", {x},
                sequence({floats({3}, {1, 2, 3}), floats({3}, {4, 5, 6})}));
  expect_result("graph(s: seq(f32[2,n])) { r = ConcatFromSequence(s, axis=1) return r }", {sequence({left, right})}, x);
  expect_result("graph(s: seq(f32[3])) { r = ConcatFromSequence(s, axis=0, new_axis=1) return r }",
                {sequence({floats({3}, {1, 2, 3}), floats({3}, {4, 5, 6})})}, x);
  EXPECT_EQ(type_of_output("graph(x: f32[4,3]) { const n: i64[] = [2] s = SplitToSequence(x, n) return s }"), "seq(f32[2,3])");
}

TEST(Sequences, AreMappedByABody) {
  constexpr std::string_view kText = R"(graph(s: seq(f32[n]), t: seq(f32[n]), k: f32[1]) {
    r = SequenceMap(s, t) body={ graph(x: f32[m], y: f32[m], k: f32[1]) { z = Add(x, y) u = Mul(z, k) return u } } captures=[k] return r })";
  expect_result(kText, {sequence({a, b}), sequence({a, b}), floats({1}, {10})},
                sequence({floats({2}, {20, 40}), floats({3}, {60, 80, 100})}));
  expect_result(kText, {sequence({}), sequence({}), floats({1}, {10})}, sequence({}));
  expect_error(kText, {sequence({a, b}), sequence({a}), floats({1}, {10})}, Code::shape_mismatch, "differ in length");
}

TEST(Sequences, GrowInALoop) {
  expect_result(R"(graph(n: i64[], x: f32[2]) {
    s = SequenceEmpty()
    r = Loop(n, _, s) body={ graph(i: i64[], c: bool[], s: seq(f32[k]), x: f32[2]) {
      f = Cast(i, to=1) y = Add(x, f) t = SequenceInsert(s, y) return c, t } } captures=[x]
    return r })",
                {number(2), a}, sequence({a, floats({2}, {2, 3})}));
}

TEST(Sequences, ALoopMayTakeAnOptionalAndGiveItsElement) {
  constexpr std::string_view kText = R"(graph(n: i64[], o: optional(seq(f32[k]))) {
    r = Loop(n, _, o) body={ graph(i: i64[], c: bool[], o: optional(seq(f32[k]))) {
      s = OptionalGetElement(o) f = Cast(i, to=1) t = SequenceInsert(s, f) return c, t } }
    return r })";
  EXPECT_EQ(type_of_output(kText), "seq(f32[*])");
  const Tensor zero = floats({}, {0}), one = floats({}, {1});
  expect_result(kText, {number(2), optional({sequence({a})})}, sequence({a, zero, one}));
  expect_result(kText, {number(0), optional({sequence({a})})}, sequence({a}));
  expect_error(kText, {number(0), optional({})}, Code::bad_input, "ran no iteration");
  expect_error(kText, {number(1), optional({})}, Code::bad_input, "the optional has no element");
}

TEST(Optionals, HaveAnElementOrNot) {
  expect_result("graph(o: optional(f32[n])) { r = OptionalGetElement(o) return r }", {optional({a})}, a);
  for (bool has : {true, false})
    expect_result("graph(o: optional(f32[n])) { r = OptionalHasElement(o) return r }",
                  {optional(has ? std::vector{a} : std::vector<Tensor>())}, Tensor::scalar(DType::boolean, has));
  expect_result("graph() { r = OptionalHasElement() return r }", {}, Tensor::scalar(DType::boolean, 0));
  expect_result("graph(x: f32[2]) { r = OptionalHasElement(x) return r }", {a}, Tensor::scalar(DType::boolean, 1));
  expect_result("graph(x: f32[2]) { o = Optional(x) return o }", {a}, optional({a}));
  expect_result("graph() { o = Optional(type=\"seq(f32[2])\") return o }", {}, optional({}));
  EXPECT_EQ(type_of_output("graph() { o = Optional(type=\"seq(f32[2])\") return o }"), "optional(seq(f32[2]))");
  EXPECT_EQ(type_of_output("graph(s: seq(f32[2])) { o = Optional(s) t = OptionalGetElement(o) return t }"), "seq(f32[2])");
}

TEST(Optionals, ComeOutOfABranch) {
  constexpr std::string_view kText = R"(graph(go: bool[], x: f32[2]) {
    o = If(go) then_branch={ graph(x: f32[2]) { o = Optional(x) return o } } captures=[x]
      else_branch={ graph() { o = Optional(type="f32[2]") return o } }
    return o })";
  expect_result(kText, {Tensor::scalar(DType::boolean, 1), a}, optional({a}));
  expect_result(kText, {Tensor::scalar(DType::boolean, 0), a}, optional({}));
}

TEST(Sequences, InTheWideModeHoldF64) {
  const auto got = run("graph(x: f32[2], y: f32[3]) { s = SequenceConstruct(x, y) t = SequenceInsert(s, x) return t }", {a, b}, Mode::wide);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(type_text((*got)[0]), "seq(f64[2],f64[3],f64[2])");
}

TEST(Sequences, AreRefusedWhereAnOpTakesTensors) {
  for (std::string_view op : {"Relu(s)", "Concat(s, axis=0)", "SequenceConstruct(s)", "Shape(s)", "Scan(s, num_scan_inputs=1)"})
    expect_error("graph(s: seq(f32[2])) { r = " + std::string(op) + " return r }", {}, Code::dtype_mismatch, "operand 0 is no tensor");
  expect_error("graph(s: f32[2], i: i64[]) { r = SequenceAt(s, i) return r }", {}, Code::dtype_mismatch, "operand 0 is no sequence");
  expect_error("graph(s: seq(f32[2]), i: f32[]) { r = SequenceAt(s, i) return r }", {}, Code::dtype_mismatch, "operand 1");
  expect_error("graph(s: seq(f32[2])) { r = SequenceInsert(s, s) return r }", {}, Code::dtype_mismatch, "operand 1 is no tensor");
  expect_error("graph(s: seq(f32[2]), x: i64[2]) { r = SequenceInsert(s, x) return r }", {}, Code::dtype_mismatch, "differ in dtype");
  expect_error("graph(o: optional(f32[2])) { r = Optional(o) return r }", {}, Code::dtype_mismatch, "an optional of an optional");
  expect_error("graph() { r = Optional() return r }", {}, Code::bad_attribute, "neither an element nor a type");
  expect_error("graph() { r = Optional(type=\"seq(f32[2]\") return r }", {}, Code::bad_attribute, "type");
  expect_error(R"(graph(go: bool[], s: seq(f32[2]), x: f32[2]) {
    r = If(go) then_branch={ graph(s: seq(f32[2])) { t = Identity(s) return t } } captures=[s]
      else_branch={ graph(x: f32[2]) { y = Relu(x) return y } } captures=[x]
    return r })",
               {}, Code::dtype_mismatch, "different kinds");
  expect_error(R"(graph(n: i64[], s: seq(f32[2])) {
    r, all = Loop(n, _, s) body={ graph(i: i64[], c: bool[], s: seq(f32[2])) { return c, s, s } } return r, all })",
               {}, Code::dtype_mismatch, "stacked");
}

TEST(Sequences, PositionsOutOfRangeAreRefused) {
  const Tensor all = sequence({a, b});
  expect_error("graph(s: seq(f32[n]), i: i64[]) { r = SequenceAt(s, i) return r }", {all, number(2)}, Code::index_out_of_range, "-2 .. 1");
  expect_error("graph(s: seq(f32[n]), i: i64[]) { r = SequenceErase(s, i) return r }", {all, number(-3)}, Code::index_out_of_range,
               "-2 .. 1");
  expect_error("graph(s: seq(f32[n])) { r = SequenceErase(s) return r }", {sequence({})}, Code::index_out_of_range, "empty");
  expect_error("graph(s: seq(f32[n])) { r = ConcatFromSequence(s, axis=0) return r }", {sequence({})}, Code::bad_input, "empty");
  expect_error("graph(s: seq(f32[n,m])) { r = ConcatFromSequence(s, axis=0) return r }",
               {sequence({floats({1, 2}, {1, 2}), floats({2, 1}, {1, 2})})}, Code::shape_mismatch, "off the joined axis");
  expect_error("graph(s: seq(f32[n])) { r = ConcatFromSequence(s, axis=0, new_axis=1) return r }", {all}, Code::shape_mismatch, "differ");
  expect_error("graph(x: f32[2], n: i64[]) { r = SplitToSequence(x, n) return r }", {a, number(0)}, Code::bad_input, "not positive");
  expect_error("graph(x: f32[2], n: i64[1]) { r = SplitToSequence(x, n) return r }", {a, Tensor::of_i64({1}, std::vector<int64_t>{1})},
               Code::shape_mismatch, "smaller than the axis");
  expect_error("graph(s: seq(f32[n])) { r = SequenceLength(s) return r }", {a}, Code::bad_input, "kind, dtype or shape");
  expect_error("graph(s: seq(f32[n])) { r = SequenceLength(s) return r }", {sequence({number(1)})}, Code::bad_input, "seq(i64[])");
  expect_error("graph(s: seq(f32[2])) { r = SequenceLength(s) return r }", {all}, Code::bad_input, "seq(f32[2],f32[3])");
}

}  // namespace
}  // namespace tenon::ops
