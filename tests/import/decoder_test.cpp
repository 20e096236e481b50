// SPDX-License-Identifier: Apache-2.0
// `--state auto`: exported decoders become graphs of tokens, states and the last logits.
#include <gtest/gtest.h>

#include "model_bytes.h"
#include "ops/reference/stateful_run.h"

namespace tenon::import::testing {
namespace {

struct Cache {
  std::string past = "past_key_values.0.key", present = "present.0.key", length = "past_sequence_length";
  std::string joins = "Concat";
};

struct Shape {
  std::vector<Cache> caches = {{}};
  std::string logits = "logits";
  std::string more = {};  ///< one more input, of integers
  std::string mask = "past_sequence_length + sequence_length";
  std::string sequence = "sequence_length";
};

/// logits = row of the token + position + 100 * ones of the mask; each cache joins the rows.
GraphBytes decoder(const Shape& shape = {}) {
  const float rows[] = {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};
  const float hundred[] = {100};
  const int64_t axis[] = {1}, last[] = {2};
  GraphBytes g;
  g.input("input_ids", DType::i64, {"batch", shape.sequence}).input("attention_mask", DType::i64, {"batch", shape.mask});
  g.input("position_ids", DType::i64, {"batch", "sequence_length"});
  if (!shape.more.empty()) g.input(shape.more, DType::i64, {"1"});
  g.initializer(tensor_f32("table", {3, 4}, rows)).initializer(tensor_f32("hundred", {1}, hundred));
  g.initializer(tensor_i64("axis", {1}, axis)).initializer(tensor_i64("last", {1}, last));
  g.node(node("Gather", {"table", "input_ids"}, {"x"})).node(node("Unsqueeze", {"x", "axis"}, {"heads"}));
  for (const Cache& c : shape.caches) {
    g.input(c.past, DType::f32, {"batch", "1", c.length, "4"});
    g.node(node("Concat", {c.past, "heads"}, {c.past + "_joined"}, {attribute("axis", int64_t{-2})}));
    g.node(node(c.joins == "Concat" ? "Identity" : c.joins, {c.past + "_joined"}, {c.present}));
    g.output(c.present, DType::f32, {"batch", "1", "total", "4"});
  }
  g.node(node("ReduceSum", {"attention_mask"}, {"ones"}, {attribute("keepdims", int64_t{0})}));
  g.node(node("Cast", {"ones"}, {"count"}, {attribute("to", int64_t{1})})).node(node("Mul", {"count", "hundred"}, {"hundreds"}));
  g.node(node("Cast", {"position_ids"}, {"places"}, {attribute("to", int64_t{1})}))
      .node(node("Unsqueeze", {"places", "last"}, {"columns"}));
  g.node(node("Add", {"x", "columns"}, {"sum"})).node(node("Add", {"sum", "hundreds"}, {shape.logits}));
  return g.output(shape.logits, DType::f32, {"batch", "sequence_length", "4"});
}

Result<Imported> import_decoder(const Shape& shape, std::vector<std::string> states = {"auto:8"}) {
  ImportOptions options;
  options.states = std::move(states);
  return import_bytes(model(decoder(shape)), options);
}

std::string error_of(const Shape& shape, std::vector<std::string> states = {"auto:8"}) {
  const auto read = import_decoder(shape, std::move(states));
  return read ? "no error" : read.error().text();
}

#define EXPECT_REFUSED(what, ...)                            \
  do {                                                       \
    const std::string error = error_of(__VA_ARGS__);         \
    EXPECT_NE(error.find(what), std::string::npos) << error; \
  } while (false)

Shape with(const Cache& cache) { return {.caches = {cache}}; }

TEST(OnnxDecoder, MaskAndPositionsAreFilledIn) {
  const auto read = import_decoder({});
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->graph->inputs().size(), 2u);
  ops::StatefulRun run;
  const auto step = [&](const std::vector<int64_t>& tokens) {
    const std::vector<Tensor> inputs{Tensor::of_i64({1, static_cast<int64_t>(tokens.size())}, tokens)};
    const auto out = run.step(*read->graph, inputs);
    return out ? std::vector<float>((*out)[0].as<float>().begin(), (*out)[0].as<float>().end()) : std::vector<float>();
  };
  EXPECT_EQ(step({1, 2}), (std::vector<float>{221, 222, 223, 224}));
  EXPECT_EQ(step({1}), (std::vector<float>{312, 313, 314, 315}));
  EXPECT_EQ(step({0, 0, 2}), (std::vector<float>{625, 626, 627, 628}));
  EXPECT_EQ(run.state("past_key_values.0.key")->shape(), (Sizes{1, 1, 6, 4}));
}

TEST(OnnxDecoder, PastsOfSeveralLengthNamesHaveOneLength) {
  const auto read =
      import_decoder({.caches = {{"past_key_0", "present_key_0", "p0"}, {"past_value_0", "present_value_0", "p1"}}, .mask = "t"});
  ASSERT_TRUE(read) << read.error().text();
  const ir::Graph& graph = *read->graph;
  ASSERT_EQ(graph.states().size(), 2u);
  const auto length = [&](size_t k) { return graph.value(graph.states()[k].input).type.dim(2); };
  EXPECT_EQ(length(0).text(), "past");
  EXPECT_EQ(length(0), length(1));
  EXPECT_EQ(graph.states()[1].growing->capacity, 8);
}

TEST(OnnxDecoder, PairsOfTheUserComeFirst) {
  const Shape shape = with({"cache_in", "cache_out"});
  const auto read = import_decoder(shape, {"cache_*in=cache_*out:5", "auto"});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->graph->states()[0].growing->capacity, 5);
  EXPECT_REFUSED("input 'cache_in': nothing gives this input", {.caches = {{}, {"cache_in", "cache_out"}}});
  EXPECT_REFUSED("no output 'cache_now'", shape, {"cache_in=cache_now", "auto:8"});
}

TEST(OnnxDecoder, PresentsThatAreNoJoinedRowsNameTheNode) {
  EXPECT_REFUSED("'n_present.0.key' (Relu)", with({.joins = "Relu"}));
  EXPECT_REFUSED("rows joined or scattered", with({.joins = "Relu"}));
}

TEST(OnnxDecoder, WrongPortsAreNamed) {
  EXPECT_REFUSED("'present.0.key' or 'present_key_values.0.key'", with({.present = "now.0.key"}));
  EXPECT_REFUSED("the model has no logits", {.logits = "scores"});
  EXPECT_REFUSED("input 'beam_idx'", {.more = "beam_idx"});
  EXPECT_REFUSED("did you mean 'seqlens_k'", {.more = "seqlens"});
  EXPECT_REFUSED("the model has no cache", {.caches = {}});
  EXPECT_REFUSED("a cache of fixed length", with({.length = "7"}));
  EXPECT_REFUSED("reads a fixed number of tokens", {.sequence = "1"});
  EXPECT_REFUSED("--context TOKENS", {}, {"auto"});
  EXPECT_REFUSED("auto:CAPACITY", {}, {"auto:0"});
}

}  // namespace
}  // namespace tenon::import::testing
