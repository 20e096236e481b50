// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "ops/infer/require.h"

namespace tenon::ops::op_string_split {

namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

/// Splits at runs of white space, ignored at both ends; after `most` splits the rest is the last part.
std::vector<std::string> split_at_blanks(std::string_view text, int64_t most) {
  std::vector<std::string> out;
  size_t at = 0;
  for (;;) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) return out;
    size_t end = at;
    if (static_cast<int64_t>(out.size()) == most) {
      end = text.size();
      while (end > at && is_blank(text[end - 1])) --end;
      out.emplace_back(text.substr(at, end - at));
      return out;
    }
    while (end < text.size() && !is_blank(text[end])) ++end;
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string> out;
  for (size_t at = 0;;) {
    const size_t end = static_cast<int64_t>(out.size()) == most ? text.npos : text.find(delimiter, at);
    out.emplace_back(text.substr(at, end - at));
    if (end == text.npos) return out;
    at = end + delimiter.size();
  }
}

Result<void> evaluate(Call& call) {
  const Tensor& x = *call.in[0];
  const std::string delimiter = call.view.attributes->text("delimiter", "");
  const int64_t wanted = call.view.attributes->integer("maxsplit", -1), most = wanted < 0 ? INT64_MAX : wanted;
  std::vector<std::vector<std::string>> parts;
  size_t longest = 0;
  for (const std::string& text : x.strings()) {
    parts.push_back(delimiter.empty() ? split_at_blanks(text, most) : split_at(text, delimiter, most));
    longest = std::max(longest, parts.back().size());
  }
  Sizes shape = x.shape();
  shape.push_back(static_cast<int64_t>(longest));
  Tensor& y = *TRY(call.make(0, shape));
  for (size_t i = 0; i < parts.size(); ++i) std::ranges::move(parts[i], y.mutable_strings().begin() + static_cast<ptrdiff_t>(i * longest));
  if (call.out.size() < 2) return {};
  Tensor& counts = *TRY(call.make(1, x.shape()));
  for (size_t i = 0; i < parts.size(); ++i) counts.set_integer(static_cast<int64_t>(i), static_cast<int64_t>(parts[i].size()));
  return {};
}

}  // namespace

/// The parts of each string, padded with empty ones to the largest number of parts; and the numbers of parts.
OP(string_split) {
    .name = "StringSplit",
    .since_version = 20,
    .inputs = {{"X"}},
    .outputs = {{"Y", "Z"}},
    .attributes = {{"delimiter: string", "maxsplit: int"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, [](DType d) { return d == DType::string; }, "string"));
      Type parts(DType::string), counts(DType::i64);
      if (view.type(0).has_rank()) {
        counts.shape = parts.shape = view.type(0).shape;
        parts.shape->push_back(view.symbols->fresh());
      }
      set_output(view, 0, std::move(parts));
      set_output(view, 1, std::move(counts));
      return {};
    },
    .reference = evaluate,
    .first_opset = 20,
};

}  // namespace tenon::ops::op_string_split
