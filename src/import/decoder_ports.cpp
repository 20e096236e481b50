// SPDX-License-Identifier: Apache-2.0
#include "import/decoder_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/contains.h"
#include "base/nearest.h"

namespace tenon::import {
namespace {

constexpr std::string_view kTokenNames[] = {"input_ids", "tokens"};

constexpr std::pair<std::string_view, InputRole> kRoles[] = {
    {"attention_mask", InputRole::mask},
    {"position_ids", InputRole::positions},
    {"cache_position", InputRole::positions},
    {"seqlens_k", InputRole::last_place},
    {"total_sequence_length", InputRole::total_length},
    {"total_seq_len", InputRole::total_length},
    {"past_sequence_length", InputRole::past_length},
    {"past_seq_len", InputRole::past_length},
    {"use_cache_branch", InputRole::cached_branch},
    {"num_logits_to_keep", InputRole::kept_logits},
    {"logits_to_keep", InputRole::kept_logits},
};

/// Prefixes of names: of a past input, and of its present output.
constexpr std::pair<std::string_view, std::string_view> kPresents[] = {
    {"past_key_values", "present"},
    {"past", "present"},
};

std::vector<std::string> port_names(const std::vector<OnnxValueInfo>& ports) {
  std::vector<std::string> out;
  for (const OnnxValueInfo& p : ports) out.emplace_back(p.name);
  return out;
}

/// The inputs that a caller gives, without initializers, which may be listed as inputs too.
std::vector<const OnnxValueInfo*> inputs_of(const OnnxGraph& graph) {
  std::unordered_set<std::string_view> weights;
  for (const OnnxTensor& t : graph.initializers) weights.insert(t.name);
  for (const OnnxSparse& s : graph.sparse_initializers) weights.insert(s.values.name);
  std::vector<const OnnxValueInfo*> out;
  for (const OnnxValueInfo& input : graph.inputs)
    if (!weights.contains(input.name)) out.push_back(&input);
  return out;
}

std::string input_place(std::string_view input) { return fmt::format("input '{}'", input); }

/// Errors: bad_input, for a past without a present.
Result<std::string> present_of(std::string_view past, const std::vector<std::string>& outputs) {
  std::vector<std::string> names;
  for (const auto& [from, to] : kPresents)
    if (past.starts_with(from)) names.push_back(std::string(to) + std::string(past.substr(from.size())));
  for (const std::string& name : names)
    if (contains(outputs, name)) return name;
  return fail(Code::bad_input, input_place(past), "no output replaces this part of the cache")
      .expected(fmt::format("an output '{}'", fmt::join(names, "' or '")))
      .found(fmt::format("outputs {}", fmt::join(outputs, ", ")))
      .advice(did_you_mean(names.front(), outputs, fmt::format("name the pair: --state '{}=PRESENT'", past)));
}

bool is_numbered(const OnnxDim& dim) { return dim.value.value_or(-1) >= 0; }

/// The shape that is requested of a past, [1, ..., past, ...], and which axis that is.
Result<uint32_t> add_past(const OnnxValueInfo& input, std::vector<RequestedShape>& shapes) {
  const auto refused = [&](Code code, std::string what) {
    return fail(code, input_place(input.name), std::move(what))
        .expected("[batch, heads, past, size]: one size but the first that is a name")
        .advice("export the model with dynamic axes");
  };
  if (!input.type.shape || input.type.shape->size() < 2) return refused(Code::bad_input, "a cache has no such shape").found("no sizes");
  RequestedShape shape{std::string(input.name), std::vector<RequestedDim>(input.type.shape->size())};
  std::vector<uint32_t> free;
  for (uint32_t d = 0; d < shape.dims.size(); ++d) {
    if (is_numbered((*input.type.shape)[d])) continue;
    if (d == 0) shape.dims[d].size = 1;
    else free.push_back(d);
  }
  if (free.size() != 1)
    return refused(Code::not_supported,
                   free.empty() ? "not supported yet: a cache of fixed length" : "not supported yet: a cache of several free sizes")
        .found(fmt::format("{} names", free.size()));
  shape.dims[free[0]].symbol = "past";
  shapes.push_back(std::move(shape));
  return free[0];
}

/// i64 or i32 [1, new].
Result<void> add_tokens(const OnnxValueInfo& input, std::vector<RequestedShape>& shapes) {
  const bool fits = input.type.shape && input.type.shape->size() == 2;
  if (!fits)
    return fail(Code::bad_input, input_place(input.name), "tokens have no such shape").expected("[batch, sequence]").found("another shape");
  if (is_numbered((*input.type.shape)[1]))
    return fail(Code::not_supported, input_place(input.name), "not supported yet: a decoder that reads a fixed number of tokens")
        .expected("a name as size of axis 1")
        .found(std::to_string(*(*input.type.shape)[1].value))
        .advice("export the model with dynamic axes");
  shapes.push_back({std::string(input.name), {{.size = 1, .symbol = {}}, {.size = {}, .symbol = "new"}}});
  return {};
}

Error no_decoder(std::string_view file, std::string what, const std::vector<std::string>& inputs, std::string advice) {
  return fail(Code::bad_input, std::string(file), std::move(what))
      .expected("an exported decoder: input_ids, past_key_values.N.key and .value, and what follows from them")
      .found(fmt::format("inputs {}", fmt::join(inputs, ", ")))
      .advice(std::move(advice));
}

Error no_role(std::string_view input) {
  std::vector<std::string_view> known(std::begin(kTokenNames), std::end(kTokenNames));
  for (const auto& [name, role] : kRoles) known.push_back(name);
  return fail(Code::bad_input, input_place(input), "nothing gives this input of a decoder its value")
      .expected(fmt::format("past_key_values..., {}", fmt::join(known, ", ")))
      .found(std::string(input))
      .advice(did_you_mean(input, known, "run the model with `tenon run`, which takes all inputs"));
}

bool contains_past(const std::vector<StatePair>& pairs, std::string_view input) {
  return std::ranges::find(pairs, input, &StatePair::past) != pairs.end();
}

/// The pairs of the user, then those of names.
Result<std::vector<StatePair>> pairs_of(const OnnxGraph& graph, const DecoderStates& states, const std::vector<std::string>& inputs,
                                        std::string_view file) {
  const std::vector<std::string> outputs = port_names(graph.outputs);
  auto pairs = TRY(named_pairs(states.pairs, inputs, outputs));
  for (const std::string& input : inputs) {
    if (!input.starts_with("past") || role_named(input) || contains_past(pairs, input)) continue;
    pairs.push_back({"auto", input, TRY(present_of(input, outputs))});
  }
  for (StatePair& pair : pairs)
    if (!pair.capacity) pair.capacity = states.capacity;
  if (pairs.empty())
    return no_decoder(file, "the model has no cache", inputs, "export it with past_key_values (optimum: --task text-generation-with-past)");
  if (std::ranges::any_of(pairs, [](const StatePair& p) { return !p.capacity; }))
    return fail(Code::bad_usage, std::string(file), "the context length of the model is not known")
        .expected("--context TOKENS, or a config.json or genai_config.json beside the model")
        .found("neither");
  return pairs;
}

}  // namespace

std::optional<InputRole> role_named(std::string_view input) {
  for (const auto& [name, role] : kRoles)
    if (name == input) return role;
  return std::nullopt;
}

Result<std::optional<DecoderStates>> decoder_states(const std::vector<std::string>& states) {
  std::optional<DecoderStates> out;
  std::vector<std::string> pairs;
  for (const std::string& text : states) {
    if (text.find('=') != text.npos || !(text == "auto" || text.starts_with("auto:"))) {
      pairs.push_back(text);
      continue;
    }
    if (!out) out.emplace();
    if (text == "auto") continue;
    int64_t capacity = 0;
    const char *const begin = text.data() + 5, *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, capacity);
    if (error != std::errc() || stop != end || capacity < 1 || capacity > int64_t{1} << 40)
      return fail(Code::bad_usage, "--state " + text, "the capacity is none").expected("auto, or auto:CAPACITY of 1 to 2^40").found(text);
    out->capacity = capacity;
  }
  if (out) out->pairs = std::move(pairs);
  return out;
}

Result<DecoderPorts> decoder_ports(const OnnxGraph& graph, const DecoderStates& states, std::string_view file) {
  const auto inputs = inputs_of(graph);
  std::vector<std::string> names;
  for (const OnnxValueInfo* input : inputs) names.emplace_back(input->name);
  DecoderPorts out;
  std::vector<StatePair> pairs = TRY(pairs_of(graph, states, names, file));
  for (const OnnxValueInfo* input : inputs) {
    const auto pair = std::ranges::find(pairs, input->name, &StatePair::past);
    if (pair != pairs.end()) {
      const uint32_t axis = TRY(add_past(*input, out.shapes));
      out.caches.push_back({*pair, axis});
    } else if (contains(kTokenNames, input->name)) {
      TRY(add_tokens(*input, out.shapes));
      out.tokens = std::string(input->name);
    } else if (const auto role = role_named(input->name)) {
      out.filled.emplace(input->name, *role);
    } else {
      return no_role(input->name);
    }
  }
  if (out.tokens.empty()) return no_decoder(file, "the model has no input of tokens", names, "export it with input_ids");
  return out;
}

}  // namespace tenon::import
