// SPDX-License-Identifier: Apache-2.0
#include "import/state_pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/nearest.h"

namespace tenon::import {
namespace {

constexpr int64_t kMaxCapacity = int64_t{1} << 40;

/// A pair as it is written: names, or patterns of them.
struct Pair {
  std::string_view text;
  std::string_view past, present;
  std::optional<int64_t> capacity = {};
};

std::string pair_place(std::string_view text) { return "state '" + std::string(text) + "'"; }

/// The text that each * of the pattern matches in the name, earlier ones as short as possible; nullopt: the name does not match.
std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name ? std::optional(std::vector<std::string_view>()) : std::nullopt;
  if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
  const std::string_view rest_of_pattern = pattern.substr(star + 1);
  for (size_t end = star; end <= name.size(); ++end)
    if (auto rest = match(rest_of_pattern, name.substr(end))) {
      rest->insert(rest->begin(), name.substr(star, end - star));
      return rest;
    }
  return std::nullopt;
}

std::string filled(std::string_view pattern, const std::vector<std::string_view>& texts) {
  std::string out;
  size_t next = 0;
  for (const char c : pattern)
    if (c == '*') out += texts[next++];
    else out += c;
  return out;
}

std::vector<std::string> output_names(const ir::Graph& graph) {
  std::vector<std::string> out;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) out.push_back(graph.output_name(k));
  return out;
}

constexpr const char* kPairForm = "a pair is PAST=PRESENT, by the names of the model";

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> out;
  for (const ir::ValueId id : graph.inputs()) out.push_back(graph.value(id).name);
  return out;
}

/// The number after the last colon is the capacity, where the text with it names no output.
Result<Pair> parse(std::string_view text, const std::vector<std::string>& outputs) {
  const size_t equals = text.find('=');
  Pair out{.text = text, .past = text.substr(0, equals), .present = {}};
  if (equals != text.npos) out.present = text.substr(equals + 1);
  const size_t colon = out.present.rfind(':');
  int64_t capacity = 0;
  const char* const end = text.data() + text.size();
  if (colon != text.npos && std::ranges::find(outputs, out.present) == outputs.end()) {
    const auto [stop, error] = std::from_chars(out.present.data() + colon + 1, end, capacity);
    if (error == std::errc() && stop == end) {
      out.present = out.present.substr(0, colon);
      out.capacity = capacity;
    }
  }
  const bool fits = !out.past.empty() && !out.present.empty() &&
                    std::ranges::count(out.past, '*') == std::ranges::count(out.present, '*') && std::ranges::count(out.past, '*') <= 4;
  if (!fits || (out.capacity && (*out.capacity < 1 || *out.capacity > kMaxCapacity)))
    return fail(Code::bad_usage, pair_place(text), "a state is given as an input and the output that replaces it")
        .expected("PAST=PRESENT or PAST=PRESENT:CAPACITY, with equally many * (at most 4) and a capacity of 1 to 2^40")
        .found(std::string(text));
  return out;
}

/// The axis on which both values differ, where that is one.
Result<std::optional<uint32_t>> growing_axis(const StatePair& pair, const ir::Type& past, const ir::Type& present) {
  std::optional<uint32_t> axis;
  for (uint32_t d = 0; d < past.shape->size(); ++d) {
    const Dim before = past.dim(static_cast<int>(d)), after = present.dim(static_cast<int>(d));
    if (before == after) continue;
    if (axis)
      return fail(Code::bad_input, "input '" + pair.past + "'", "input and output of a state differ in more than one size")
          .expected("one axis that is longer in the output")
          .found(past.text() + " and " + present.text())
          .advice("fix the other sizes with --shape");
    const bool is_symbol = before.node() && before.node()->kind == DimNode::Kind::symbol;
    bool contains = false;
    if (!after.is_number()) each_symbol(after, [&](const DimNode& s) { contains |= &s == before.node(); });
    if (!is_symbol || !contains)
      return fail(Code::bad_input, pair_place(pair.text),
                  "input and output of a state differ in shape, and neither is the other with more rows")
          .expected(past.text())
          .found(present.text());
    axis = d;
  }
  return axis;
}

Result<int64_t> capacity_of(const StatePair& pair, Dim length) {
  if (pair.capacity) return *pair.capacity;
  if (length.upper() < kMaxCapacity) return length.upper();
  return fail(Code::bad_usage, "input '" + pair.past + "'", "a state that grows needs a capacity")
      .expected(fmt::format("{}:CAPACITY, or an upper bound of '{}'", pair.text, length.text()))
      .found("none")
      .advice(fmt::format("write --state '{}:4096'", pair.text));
}

Result<void> add(ir::Graph& graph, const StatePair& pair) {
  const std::string &name = pair.past, &present = pair.present;
  const std::vector<std::string> names = output_names(graph);
  const ir::ValueId input = graph.find_value(name);
  const auto output = static_cast<uint32_t>(std::ranges::find(names, present) - names.begin());
  if (output == names.size())
    return fail(Code::bad_input, pair_place(pair.text), fmt::format("the model has no output '{}' for the input '{}'", present, name))
        .expected(fmt::format("one of: {}", fmt::join(names, ", ")))
        .found(present)
        .advice(did_you_mean(present, names, kPairForm));
  const ir::State* const other = graph.state_of_input(input) ? graph.state_of_input(input) : graph.state_of_output(output);
  if (other)
    return fail(Code::bad_input, pair_place(pair.text), "an input or output can belong to one state alone")
        .expected("other names")
        .found(fmt::format("'{}' and '{}', of state '{}' already", name, present, other->name));
  const ir::Type past = graph.value(input).type, now = graph.value(graph.outputs()[output]).type;
  const bool are_tensors = past.is_tensor() && now.is_tensor() && past.has_rank() && now.has_rank();
  if (!are_tensors || past.dtype != now.dtype || past.rank() != now.rank() || past.dtype == DType::string)
    return fail(Code::bad_input, pair_place(pair.text), fmt::format("'{}' and '{}' cannot be one state", name, present))
        .expected(past.text())
        .found(now.text())
        .advice("both are tensors of one element type (no strings) and one rank");
  ir::State state{.name = name, .input = input, .output = output};
  if (const auto axis = TRY(growing_axis(pair, past, now)))
    state.growing = ir::GrowingAxis{*axis, TRY(capacity_of(pair, past.dim(static_cast<int>(*axis))))};
  else if (pair.capacity)
    return fail(Code::bad_usage, pair_place(pair.text), "a state of fixed shape has no capacity")
        .expected(pair.past + "=" + pair.present)
        .found(pair.text);
  if (graph.value(input).has_default() && !state.growing) state.initial = graph.value(input).constant;
  if (graph.value(input).has_default()) graph.set_default(input, nullptr);
  TRY(ir::check_state(graph, state));
  graph.add_state(std::move(state));
  return {};
}

}  // namespace

Result<std::vector<StatePair>> named_pairs(const std::vector<std::string>& pairs, const std::vector<std::string>& inputs,
                                           const std::vector<std::string>& outputs) {
  std::vector<StatePair> out;
  for (const std::string& text : pairs) {
    const Pair pair = TRY(parse(text, outputs));
    const size_t before = out.size();
    for (const std::string& input : inputs)
      if (const auto texts = match(pair.past, input)) out.push_back({text, input, filled(pair.present, *texts), pair.capacity});
    if (out.size() == before)
      return fail(Code::bad_input, pair_place(text), "the model has no input of this name")
          .expected(fmt::format("one of: {}", fmt::join(inputs, ", ")))
          .found(std::string(pair.past))
          .advice(did_you_mean(pair.past, inputs, kPairForm));
  }
  return out;
}

Result<void> pair_states(ir::Graph& graph, const std::vector<StatePair>& pairs) {
  for (const StatePair& pair : pairs) TRY(add(graph, pair));
  return {};
}

Result<void> pair_states(ir::Graph& graph, const std::vector<std::string>& pairs) {
  return pair_states(graph, TRY(named_pairs(pairs, input_names(graph), output_names(graph))));
}

}  // namespace tenon::import
