// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "rules/registry/registry.h"

namespace tenon::rules {
namespace {

constexpr std::string_view kSets[] = {"tenon", "default", "onnxruntime", "onnxruntime_cuda", "onnxruntime_other", "ml", "canonical"};

/// Is `word` one of the blank-separated words of `list`?
bool has_word(std::string_view list, std::string_view word) {
  for (size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const bool starts = at == 0 || list[at - 1] == ' ';
    const bool ends = at + word.size() == list.size() || list[at + word.size()] == ' ';
    if (starts && ends) return true;
  }
  return false;
}

/// "NotNotPattern" is yobx's class for the rewrite "NotNot".
bool has_covered_pattern(std::string_view patterns, std::string_view name) {
  if (name.ends_with("Pattern")) name.remove_suffix(7);
  return has_word(patterns, name);
}

bool named(const Entry& e, std::string_view name) {
  return e.rule->name == name || e.file == name || has_word(e.sets, name) || has_covered_pattern(e.rule->covered_patterns, name);
}

/// Names that select rules although no rule has them: sets, and patterns of yobx that need no rule.
bool may_be_empty(std::string_view name) {
  return std::ranges::find(kSets, name) != std::end(kSets) || has_covered_pattern("ConstantToInitializer", name);
}

Error unknown(std::string_view name) {
  std::vector<std::string_view> known(std::begin(kSets), std::end(kSets));
  for (const Entry& e : all_rules()) known.insert(known.end(), {e.rule->name, e.file});
  const auto far = [&](std::string_view k) { return std::min(edit_distance(k, name), edit_distance(k.substr(k.find('/') + 1), name)); };
  const auto nearest = std::ranges::min_element(known, {}, far);
  return fail(Code::bad_usage, std::string(name), "no set, file or rule has this name")
      .expected("tenon, default, onnxruntime, onnxruntime_cuda, onnxruntime_other, ml, canonical, or a name from `tenon rules list`")
      .advice(fmt::format("did you mean '{}'?", *nearest));
}

/// A rule that serves several patterns of yobx goes with the first that it names.
bool goes_with(const Entry& e, std::string_view name) {
  const std::string_view patterns = e.rule->covered_patterns;
  return e.rule->name == name || e.file == name || has_word(e.sets, name) ||
         has_covered_pattern(patterns.substr(0, patterns.find(' ')), name);
}

/// Takes in the entries of this name, or leaves them out. Returns whether it means something.
bool choose(std::string_view name, bool take, std::span<const Entry> all, std::vector<bool>& chosen) {
  bool found = name.empty() || may_be_empty(name);
  for (size_t i = 0; i < all.size() && !name.empty(); ++i) {
    if (!named(all[i], name)) continue;
    if (take || goes_with(all[i], name)) chosen[i] = take;
    found = true;
  }
  return found;
}

}  // namespace

Result<std::vector<Entry>> select(std::string_view expression) {
  const std::span<const Entry> all = all_rules();
  std::vector<bool> chosen(all.size());
  bool keep = true;
  for (size_t at = 0; at < expression.size();) {
    const size_t end = std::min(expression.find_first_of("+,-", at), expression.size());
    const std::string_view name = expression.substr(at, end - at);
    if (!choose(name, keep, all, chosen)) return unknown(name);
    if (end < expression.size()) keep = expression[end] != '-';
    at = end + 1;
  }
  std::vector<Entry> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (chosen[i]) out.push_back(all[i]);
  return out;
}

}  // namespace tenon::rules
