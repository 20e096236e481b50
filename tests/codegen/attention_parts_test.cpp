// SPDX-License-Identifier: Apache-2.0
// Where keys are dealt out in parts: with few heads alone, also where only the run knows batch and queries. Where sums have one order, the
// form for few queries, which deals out ranges of keys.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Whether a second kernel joins parts.
bool deals_out_keys(std::string_view heads, std::string_view keys, std::string_view batch = "b") {
  const auto text =
      fmt::format("graph main(q: f32[{2},{0},s,16], k: f32[{2},{0},{1},16], v: f32[{2},{0},{1},16]) {{ y = Attention(q, k, v) return y }}",
                  heads, keys, batch);
  const auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << text;
  const auto planned = planned_graph(**graph, {}, **target_named("x86_avx512"));
  EXPECT_TRUE(planned) << planned.error().text();
  return planned->kernels_by_group.back().back().tile.name == "attention_join";
}

TEST(AttentionParts, KeysAreSplitForFewHeadsWithManyKeys) {
  EXPECT_TRUE(deals_out_keys("2", "3000"));
  EXPECT_TRUE(deals_out_keys("2", "t"));
  EXPECT_FALSE(deals_out_keys("12", "3000"));
  EXPECT_FALSE(deals_out_keys("12", "t"));
  EXPECT_FALSE(deals_out_keys("2", "3000", "64*b")) << "windows of an image";
  EXPECT_FALSE(deals_out_keys("2", "300")) << "too few for two parts";
}

std::vector<Tensor> operands_of(const ir::Graph& graph, int64_t queries, int64_t keys) {
  std::vector<Tensor> out;
  for (ir::ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    Sizes shape;
    for (Dim d : *type.shape) shape.push_back(d.is_number() ? d.value() : d.text() == "s" ? queries : keys);
    Tensor made = *Tensor::make(type.dtype, shape);
    for (int64_t k = 0; k < made.count(); ++k) {
      const double wave = std::sin(static_cast<double>(k * k % 1009) + static_cast<double>(out.size()));
      const bool scales = type.dtype == DType::f32 && shape.back() == 1;  // of codes
      if (type.dtype == DType::boolean) made.set_integer(k, wave > -0.5);
      else if (type.dtype == DType::i8) made.set_integer(k, std::lround(127 * wave));
      else made.set_number(k, scales ? (1.5 + wave) / 127 : wave);
    }
    out.push_back(std::move(made));
  }
  return out;
}

/// The result where at most `few` queries take keys as lanes; empty, and a failed test, after an error.
std::vector<float> result_of(const ir::Graph& graph, std::string_view target, int64_t few, const std::vector<Tensor>& operands) {
  const auto choose = [&](const Group& group, const Plan&, const Target& on) {
    Tactic tactic = default_tactic(group, on);
    if (auto* of = std::get_if<AttentionTactic>(&tactic)) of->few = few;
    return tactic;
  };
  const auto planned = planned_graph(graph, {.sums_in_order = true, .verify = true}, **target_named(target), choose);
  EXPECT_TRUE(planned) << planned.error().text();
  if (!planned) return {};
  const auto got = run(*planned, operands);
  EXPECT_TRUE(got) << got.error().text();
  if (!got) return {};
  const auto values = got->at(0).as<float>();
  return {values.begin(), values.end()};
}

struct Form {
  int heads, size;
  std::string_view mask, how, target;
  std::string_view stored = "f32";  ///< type of keys and values in memory
};

/// Keys and values of 8 bits have a scale a row.
std::string text_of(const Form& form) {
  const bool wide = form.stored == "f32", codes = form.stored == "i8" || form.stored == "f8e4m3fn";
  std::string inputs = fmt::format("q: f32[1,{0},s,{1}], k: {2}[1,2,t,{1}], v: {2}[1,2,t,{1}]", form.heads, form.size, form.stored);
  if (codes) inputs += ", ks: f32[1,2,t,1], vs: f32[1,2,t,1]";
  if (!form.mask.empty()) inputs += fmt::format(", m: {}", form.mask);
  return fmt::format("graph main({}) {{ {} {} y = Attention(q, {}{}{}) return y }}", inputs,
                     wide ? "" : "a = Cast(k, to=1) b = Cast(v, to=1)", codes ? "c = Mul(a, ks) d = Mul(b, vs)" : "",
                     wide    ? "k, v"
                     : codes ? "c, d"
                             : "a, b",
                     form.mask.empty() ? "" : ", m", form.how);
}

/// Both forms against each other, bit by bit, and against the reference.
void check_bits(const ir::Graph& graph, std::string_view target, const std::vector<Tensor>& operands) {
  const std::vector<float> many = result_of(graph, target, 0, operands), few = result_of(graph, target, 3, operands);
  const auto want = ops::evaluate(graph, operands);
  ASSERT_TRUE(want) << want.error().text();
  const auto values = want->at(0).as<float>();
  ASSERT_EQ(few.size(), values.size());
  ASSERT_EQ(many.size(), values.size());
  EXPECT_EQ(std::memcmp(few.data(), many.data(), few.size() * sizeof(float)), 0) << "other bits";
  for (size_t k = 0; k < few.size(); ++k) ASSERT_NEAR(few[k], values[k], 1e-5) << k;
}

void check_form(const Form& form, int64_t queries, int64_t keys) {
  const std::string text = text_of(form);
  SCOPED_TRACE(fmt::format("{} {}, {} queries, {} keys", text, form.target, queries, keys));
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  check_bits(**graph, form.target, operands_of(**graph, queries, keys));
}

constexpr Form kForms[] = {{2, 16, "", "", "x86_avx2"},
                           {6, 20, "f32[s,t]", "", "x86_avx2"},
                           {18, 8, "bool[1,1,s,t]", ", softcap=2.0", "x86_avx512"},
                           {4, 33, "f32[1,4,1,t]", "", "x86_avx2"},
                           {4, 16, "", ", is_causal=1", "x86_avx512"},
                           {8, 16, "bool[s,t]", ", left_window_size=300, right_window_size=400", "x86_avx2"},
                           {4, 8, "", ", left_window_size=0", "x86_avx2"},
                           {6, 16, "", "", "x86_avx2", "f16"},
                           {4, 12, "bool[s,t]", "", "x86_avx512", "bf16"},
                           {6, 20, "bool[s,t]", "", "x86_avx2", "i8"},
                           {4, 16, "f32[1,4,1,t]", ", softcap=2.0", "x86_avx512", "i8"},
                           {4, 8, "", ", is_causal=1", "x86_avx2", "f8e4m3fn"}};

TEST(FewQueries, GiveTheBitsOfManyQueries) {
  for (const Form& form : kForms)
    for (const auto& [queries, keys] : {std::pair{1, 1}, {1, 700}, {3, 256}, {2, 300}, {4, 40}, {3, 1}}) check_form(form, queries, keys);
}

TEST(FewQueries, LengthsOfSequencesBoundKeys) {
  for (const std::string_view how : {"", ", is_causal=1", ", is_causal=1, left_window_size=40", ", right_window_size=1"}) {
    const auto text = fmt::format(
        "graph main(q: f32[5,4,s,16], k: f32[5,2,t,16], v: f32[5,2,t,16], n: i64[5]) {{ y = Attention(q, k, v, _, _, _, n{}) return y }}",
        how);
    const auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    for (const auto& [queries, keys] : {std::pair{1, 700}, {3, 300}, {4, 40}}) {
      SCOPED_TRACE(fmt::format("{}, {} queries, {} keys", text, queries, keys));
      std::vector<Tensor> operands = operands_of(**graph, queries, keys);
      for (const auto& [sequence, length] : {std::pair<int64_t, int64_t>{0, queries}, {1, keys}, {2, keys / 2}, {3, 0}, {4, INT64_MIN}})
        operands[3].set_integer(sequence, length);
      check_bits(**graph, "x86_avx2", operands);
      operands[3].set_integer(4, INT64_MAX);
      check_bits(**graph, "x86_avx512", operands);
    }
  }
}

TEST(FewQueries, KeysInFewerBitsAreReadAsTheyAre) {
  for (const char* stored : {"f16", "i8", "f8e4m3fn"}) {
    const auto graph = ir::parse(text_of({6, 16, "", "", "x86_avx2", stored}), ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto groups = [&](bool in_order) {
      const auto planned = planned_graph(**graph, {.sums_in_order = in_order, .verify = true}, **target_named("x86_avx2"));
      return planned ? planned->plan.groups.size() : 0;
    };
    EXPECT_EQ(groups(true), 1u) << stored;
    EXPECT_EQ(groups(false), 3u) << stored << ": plans without an order keep their groups";
  }
}

}  // namespace
}  // namespace tenon::codegen
