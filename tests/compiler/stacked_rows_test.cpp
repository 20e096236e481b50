// SPDX-License-Identifier: Apache-2.0
// Rows that Loop and Scan stack, and sequences, of strings and of types that take less than a byte.
#include <gtest/gtest.h>

#include "helpers.h"

namespace tenon::compiler {
namespace {

using Inputs = std::vector<Tensor>;

/// Every element type whose rows are not bytes one after the other.
constexpr DType kTypes[] = {DType::string, DType::i4, DType::u4, DType::i2, DType::u2, DType::f4e2m1};

/// Element k is k + 1, wrapped; of floats k % 5; of strings a text with k in it that no small-string buffer holds.
Tensor counting(DType dtype, const Sizes& shape) {
  Tensor out = *Tensor::make(dtype, shape);
  for (int64_t k = 0; k < out.count(); ++k) {
    if (dtype == DType::string) out.mutable_strings()[static_cast<size_t>(k)] = "text " + std::to_string(k) + std::string(30, 'x');
    else if (is_float(dtype)) out.set_number(k, static_cast<double>(k % 5));
    else out.set_integer(k, k + 1);
  }
  return out;
}

/// A tensor whose every element is the only one of `element`.
Tensor repeated(const Tensor& element, const Sizes& shape) {
  Tensor out = *Tensor::make(element.dtype(), shape);
  for (int64_t k = 0; k < out.count(); ++k) {
    if (element.dtype() == DType::string) out.mutable_strings()[static_cast<size_t>(k)] = element.strings()[0];
    else if (is_float(element.dtype())) out.set_number(k, element.number(0));
    else out.set_integer(k, element.integer(0));
  }
  return out;
}

/// The text with $ in the place of its element type; at opt 0 and 3 it gives `want`.
void expect_results(std::string_view pattern, DType dtype, const Inputs& inputs, const std::vector<Tensor>& want) {
  std::string text;
  for (const char c : pattern) c == '$' ? text += name_of(dtype) : text += c;
  for (const int opt : {0, 3}) {
    auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto got = testing::compiled_results(*std::move(graph), inputs, opt);
    ASSERT_TRUE(got) << name_of(dtype) << ": " << got.error().text();
    ASSERT_EQ(got->size(), want.size());
    for (size_t k = 0; k < want.size(); ++k)
      EXPECT_EQ(testing::difference(want[k], (*got)[k], 0), "") << name_of(dtype) << " opt " << opt << " result " << k;
  }
}

Tensor number(int64_t value) { return Tensor::of_i64({}, {&value, 1}); }

TEST(StackedRows, ScanGivesItsRowsBack) {
  for (const DType dtype : kTypes)
    for (const int64_t width : {1, 3, 4, 5}) {
      const Tensor x = counting(dtype, {5, width});
      expect_results("graph(x: $[n,m]) { y = Scan(x, num_scan_inputs=1) body={ graph(r: $[m]) { s = Identity(r) return s } } return y }",
                     dtype, {x}, {x});
    }
}

TEST(StackedRows, LoopOfAKnownTripCountGivesItsRows) {
  for (const DType dtype : kTypes) {
    const Tensor x = counting(dtype, {3, 3}), s = counting(dtype, {1}), thrice = repeated(s, {1, 3});
    expect_results(
        "graph(x: $[3,3], s: $[1]) { const n: i64[] = [3] q, y, z = Loop(n, _, s) body={ graph(i: i64[], c: bool[], v: $[1], a: $[3,3]) {"
        " r = Gather(a, i) w = Identity(v) return c, w, r, w } } captures=[x] t = Identity(y) u = Flatten(z, axis=0) return q, t, u }",
        dtype, {x, s}, {s, x, thrice});
  }
}

TEST(StackedRows, LoopOfATripCountThatIsInputGivesItsRows) {
  for (const DType dtype : kTypes) {
    const Tensor x = counting(dtype, {5, 3}), s = counting(dtype, {1});
    expect_results(
        "graph(n: i64[], x: $[k,3], s: $[1]) { q, y = Loop(n, _, s) body={ graph(i: i64[], c: bool[], v: $[1], a: $[k,3]) {"
        " r = Gather(a, i) w = Identity(v) return c, w, r } } captures=[x] return q, y }",
        dtype, {number(5), x, s}, {s, x});
  }
}

TEST(StackedRows, LoopInALoopStacksRowsOfRows) {
  for (const DType dtype : kTypes) {
    const Tensor x = counting(dtype, {3, 3, 1});
    expect_results(
        "graph(x: $[3,3,1]) { y = Scan(x, num_scan_inputs=1) body={ graph(r: $[3,1]) {"
        " s = Scan(r, num_scan_inputs=1) body={ graph(e: $[1]) { f = Identity(e) return f } } return s } } return y }",
        dtype, {x}, {x});
  }
}

TEST(StackedRows, SequencesGiveTheirElementsBack) {
  for (const DType dtype : kTypes) {
    const Tensor x = counting(dtype, {5, 3});
    expect_results(
        "graph(x: $[5,3]) { const at: i64[] = [2] s = SplitToSequence(x, axis=0) y = ConcatFromSequence(s, axis=0)"
        " e = SequenceAt(s, at) t = SequenceErase(s, at) u = SequenceInsert(t, e, at) z = ConcatFromSequence(u, axis=0)"
        " v = SplitToSequence(x, axis=0, keepdims=0) w = ConcatFromSequence(v, axis=0, new_axis=1) return y, z, w }",
        dtype, {x}, {x, x, x});
  }
}

TEST(StackedRows, BranchesGiveTheirResults) {
  for (const DType dtype : kTypes)
    for (const bool go : {true, false}) {
      const Tensor x = counting(dtype, {3, 3}), y = counting(dtype, {3, 1});
      expect_results(
          "graph(go: bool[], x: $[n,m], y: $[n,k]) { z = If(go) then_branch={ graph(a: $[n,m]) { return a } } captures=[x]"
          " else_branch={ graph(b: $[n,k]) { c = Identity(b) return c } } captures=[y] return z }",
          dtype, {Tensor::scalar(DType::boolean, go), x, y}, {go ? x : y});
    }
}

}  // namespace
}  // namespace tenon::compiler
