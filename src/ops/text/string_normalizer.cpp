// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "ops/infer/require.h"

namespace tenon::ops::op_string_normalizer {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

std::string changed(std::string text, char (*change)(char)) {
  std::ranges::transform(text, text.begin(), change);
  return text;
}

ir::Strings stopwords(const NodeView& view) {
  const ir::Attribute* a = view.attributes->find("stopwords");
  return a ? std::get<ir::Strings>(*a) : ir::Strings();
}

/// Removes stopwords and changes case. Errors: not_supported (letters beyond ASCII whose case matters).
Result<std::vector<std::string>> normalised(Call& call, const std::vector<std::string>& words) {
  const std::string action = call.view.attributes->text("case_change_action", "NONE");
  const bool cased = call.view.attributes->integer("is_case_sensitive", 0) != 0;
  std::set<std::string> stops;
  for (const std::string& word : stopwords(call.view)) stops.insert(cased ? word : changed(word, lower));
  std::vector<std::string> kept;
  for (const std::string& word : words) {
    if ((action != "NONE" || !cased) && std::ranges::any_of(word, [](char c) { return (c & 0x80) != 0; }))
      return refuse(call.view, Code::not_supported, "not supported yet: upper and lower case of letters beyond ASCII").found(word);
    if (stops.contains(cased ? word : changed(word, lower))) continue;
    kept.push_back(action == "LOWER" ? changed(word, lower) : action == "UPPER" ? changed(word, upper) : word);
  }
  return kept;
}

Result<void> evaluate(Call& call) {
  const Tensor& x = *call.in[0];
  if (x.rank() != 1 && (x.rank() != 2 || x.shape()[0] != 1))
    return refuse(call.view, Code::shape_mismatch, "one row of texts is needed").found(type_text(x.dtype(), x.shape()));
  std::vector<std::string> kept = TRY(normalised(call, x.strings()));
  if (kept.empty()) kept.emplace_back();
  Sizes shape = x.shape();
  shape.back() = static_cast<int64_t>(kept.size());
  TRY(call.make(0, shape))->mutable_strings() = std::move(kept);
  return {};
}

}  // namespace

/// Strings without the stop words, in upper or lower case; where none is left, one empty string.
OP(string_normalizer) {
    .name = "StringNormalizer",
    .since_version = 10,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"case_change_action: string = NONE", "is_case_sensitive: int = 0", "locale: string", "stopwords: strings"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, [](DType d) { return d == DType::string; }, "string"));
      TRY(require_rank(view, 0, 1, 2));
      const std::string action = view.attributes->text("case_change_action", "NONE");
      if (action != "NONE" && action != "LOWER" && action != "UPPER")
        return refuse(view, Code::bad_attribute, "unknown case_change_action").expected("NONE, LOWER or UPPER").found(action);
      Type type = view.type(0);
      if (type.has_rank()) type.shape->back() = view.symbols->fresh();
      set_output(view, 0, std::move(type));
      return {};
    },
    .reference = evaluate,
    .first_opset = 10,
};

}  // namespace tenon::ops::op_string_normalizer
