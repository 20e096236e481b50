// SPDX-License-Identifier: Apache-2.0
#include "ops/text/pattern_reader.h"

#include <algorithm>
#include <optional>

#include "ops/text/letters.h"

namespace tenon::ops {

namespace {

using Set = TextPattern::Set;
using Kind = TextPattern::Step::Kind;
using Part = PatternPart;

constexpr int kMostDepth = 200, kMostRepeats = 1000;  // RE2 counts no further either

class Reader {
 public:
  Reader(std::string_view pattern, const std::string& where) : text_(code_points(pattern)), where_(where) {}

  Result<Part> read() {
    Part all = TRY(choice(0));
    if (!done()) return bad("a ) that closes nothing");
    return all;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  uint32_t now() const { return done() ? 0 : text_[at_]; }
  bool take(char c) {
    if (done() || now() != static_cast<uint32_t>(c)) return false;
    ++at_;
    return true;
  }
  Error bad(std::string what) const { return fail(Code::bad_attribute, where_, "the pattern is not well formed: " + std::move(what)); }
  Error unknown(std::string what) const { return fail(Code::not_supported, where_, "not supported yet in a pattern: " + std::move(what)); }

  Result<Part> choice(int depth) {
    if (depth > kMostDepth) return fail(Code::limit_exceeded, where_, "the groups of the pattern nest too deeply");
    Part out{.kind = Part::Kind::choice, .set = {}, .parts = {}};
    do out.parts.push_back(TRY(sequence(depth)));
    while (take('|'));
    return out;
  }

  Result<Part> sequence(int depth) {
    Part out{.kind = Part::Kind::sequence, .set = {}, .parts = {}};
    while (!done() && now() != '|' && now() != ')') {
      Part part = TRY(atom(depth));
      if (const auto times = TRY(repeats())) {
        if (part.kind == Part::Kind::edge) return bad("nothing to repeat");
        Part repeat{.kind = Part::Kind::repeat, .set = {}, .parts = {}, .least = times->first, .most = times->second};
        repeat.parts.push_back(std::move(part));
        part = std::move(repeat);
        take('?');  // the shortest match first: all ways are followed anyway
        if (TRY(repeats())) return bad("two repeats in a row");
      }
      out.parts.push_back(std::move(part));
    }
    return out;
  }

  /// Reads a quantifier after a part; nullopt where there is none.
  Result<std::optional<std::pair<int, int>>> repeats() {
    using Times = std::optional<std::pair<int, int>>;
    if (take('*')) return Times({0, -1});
    if (take('+')) return Times({1, -1});
    if (take('?')) return Times({0, 1});
    const size_t begin = at_;
    if (!take('{')) return Times();
    const auto least = number();
    if (!least) return at_ = begin, Times();  // RE2 reads such a { as itself
    const bool range = take(',');
    const auto most = range ? number() : least;
    if (!take('}')) return at_ = begin, Times();
    if (*least > kMostRepeats || most.value_or(0) > kMostRepeats || (most && *most < *least))
      return bad("a repeat beyond 1000, or downwards");
    return Times({*least, most.value_or(-1)});
  }

  std::optional<int> number() {
    std::optional<int> out;
    while (!done() && now() >= '0' && now() <= '9') out = std::min(out.value_or(0) * 10 + static_cast<int>(text_[at_++] - '0'), 100000);
    return out;
  }

  Result<Part> atom(int depth) {
    const uint32_t c = text_[at_++];
    switch (c) {
      case '(': {
        if (take('?') && !take(':')) return unknown("(? but (?:");
        Part inside = TRY(choice(depth + 1));
        if (!take(')')) return bad("a ( that nothing closes");
        return inside;
      }
      case '[': return set_of(TRY(bracket()));
      case '.': return set_of(Set{{{'\n', '\n'}}, true});
      case '^': return edge(Kind::begin);
      case '$': return edge(Kind::end);
      case '*':
      case '+':
      case '?': return bad("nothing to repeat");
      case '\\':
        if (take('b')) return edge(Kind::word_edge);
        if (take('B')) return edge(Kind::no_word_edge);
        if (take('A')) return edge(Kind::begin);
        if (take('z')) return edge(Kind::end);
        return set_of(TRY(escaped()));
      default: return set_of(Set{{{c, c}}, false});
    }
  }

  static Part set_of(Set set) { return {.kind = Part::Kind::set, .set = std::move(set), .parts = {}}; }
  static Part edge(Kind kind) { return {.kind = Part::Kind::edge, .set = {}, .edge = kind, .parts = {}}; }

  Result<Set> escaped() {
    if (done()) return bad("it ends with a backslash");
    const uint32_t c = text_[at_++];
    const uint32_t small = c | 0x20;
    if (small == 'd' || small == 'w' || small == 's') return Set{letters_of_class(static_cast<char>(small)), c != small};
    constexpr std::pair<char, char> kNamed[] = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'f', '\f'}, {'v', '\v'}, {'a', '\a'}};
    for (auto [name, meant] : kNamed)
      if (c == static_cast<uint32_t>(name)) return Set{{{static_cast<uint32_t>(meant), static_cast<uint32_t>(meant)}}, false};
    if (is_word(c) && c != '_') return unknown(std::string("\\") + static_cast<char>(c));
    return Set{{{c, c}}, false};
  }

  Result<Set> bracket() {
    Set set;
    set.negated = take('^');
    for (bool first = true; first || now() != ']'; first = false) {
      if (done()) return bad("a [ that nothing closes");
      if (now() == '[' && at_ + 1 < text_.size() && text_[at_ + 1] == ':') return unknown("[:name:]");
      Set one = TRY(member());
      if (one.negated) return unknown("\\D, \\W or \\S between [ and ]");
      const bool range = one.ranges.size() == 1 && one.ranges[0].first == one.ranges[0].second && now() == '-' && at_ + 1 < text_.size() &&
                         text_[at_ + 1] != ']';
      if (range) {
        ++at_;
        const Set end = TRY(member());
        if (end.negated || end.ranges.size() != 1 || end.ranges[0].first != end.ranges[0].second ||
            end.ranges[0].first < one.ranges[0].first)
          return bad("a range that goes nowhere");
        one.ranges[0].second = end.ranges[0].first;
      }
      set.ranges.insert(set.ranges.end(), one.ranges.begin(), one.ranges.end());
    }
    ++at_;
    return set;
  }

  Result<Set> member() {
    if (done()) return bad("a [ that nothing closes");
    if (take('\\')) return escaped();
    const uint32_t c = text_[at_++];
    return Set{{{c, c}}, false};
  }

  std::vector<uint32_t> text_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace

Result<PatternPart> read_pattern(std::string_view pattern, const std::string& where) { return Reader(pattern, where).read(); }

}  // namespace tenon::ops
