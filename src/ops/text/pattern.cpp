// SPDX-License-Identifier: Apache-2.0
#include "ops/text/pattern.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "ops/reduce/rows.h"

namespace tenon::ops {

namespace {

using Set = TextPattern::Set;
using Step = TextPattern::Step;
using Kind = Step::Kind;

constexpr size_t kMostSteps = 20000;
constexpr int kMostDepth = 200, kMostRepeats = 1000;  // RE2 counts no further either
constexpr uint32_t kLast = 0x10ffff;

/// Code points; a byte that begins none stands for itself beyond them all.
std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
    uint32_t c = more <= 0 ? first : first & (0x3fU >> more);
    bool sound = more >= 0 && at + static_cast<size_t>(more) < text.size();
    for (int k = 1; sound && k <= more; ++k) {
      const auto next = static_cast<uint8_t>(text[at + static_cast<size_t>(k)]);
      sound = (next & 0xc0) == 0x80;
      c = c << 6 | (next & 0x3f);
    }
    out.push_back(sound ? c : kLast + 1 + first);
    at += sound ? static_cast<size_t>(more) + 1 : 1;
  }
  return out;
}

bool is_word(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z'); }

/// A part of a pattern.
struct Part {
  enum class Kind : uint8_t { set, edge, sequence, choice, repeat } kind = Kind::sequence;
  Set set;
  TextPattern::Step::Kind edge = TextPattern::Step::Kind::begin;
  std::vector<Part> parts;
  int least = 0, most = -1;  ///< of a repeat; -1: any number
};

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

  /// How often the last part stands; none where nothing says so.
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
    if (small == 'd' || small == 'w' || small == 's') {
      Set set{{}, c != small};
      if (small == 'd') set.ranges = {{'0', '9'}};
      else if (small == 'w') set.ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
      else set.ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
      return set;
    }
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

/// Writes a part's steps behind those that are there. false: too many.
struct KernelEmitter {
  std::vector<Set>& sets;
  std::vector<Step>& steps;

  size_t add(Kind kind, size_t a = 0, size_t b = 0) {
    steps.push_back({kind, a, b});
    return steps.size() - 1;
  }

  bool emit(const Part& p) {
    if (steps.size() > kMostSteps) return false;
    switch (p.kind) {
      case Part::Kind::set: sets.push_back(p.set); return add(Kind::set, sets.size() - 1), true;
      case Part::Kind::edge: return add(p.edge), true;
      case Part::Kind::sequence: return std::ranges::all_of(p.parts, [&](const Part& q) { return emit(q); });
      case Part::Kind::choice: return choice(p);
      case Part::Kind::repeat: return repeat(p);
    }
    return false;
  }

  bool choice(const Part& p) {
    std::vector<size_t> ends;
    for (size_t k = 0; k < p.parts.size(); ++k) {
      const bool last = k + 1 == p.parts.size();
      const size_t fork = last ? 0 : add(Kind::split, steps.size() + 1);
      if (!emit(p.parts[k])) return false;
      if (last) break;
      ends.push_back(add(Kind::jump));
      steps[fork].b = steps.size();
    }
    for (size_t end : ends) steps[end].a = steps.size();
    return true;
  }

  bool repeat(const Part& p) {
    for (int k = 0; k < p.least; ++k)
      if (!emit(p.parts[0])) return false;
    if (p.most < 0) {
      const size_t fork = add(Kind::split, steps.size() + 1);
      if (!emit(p.parts[0])) return false;
      add(Kind::jump, fork);
      steps[fork].b = steps.size();
      return true;
    }
    std::vector<size_t> forks;
    for (int k = p.least; k < p.most; ++k) {
      forks.push_back(add(Kind::split, steps.size() + 1));
      if (!emit(p.parts[0])) return false;
    }
    for (size_t fork : forks) steps[fork].b = steps.size();
    return true;
  }
};

/// The steps that wait for a letter (or match) at one place of the text.
class Front {
 public:
  Front(const std::vector<Step>& steps, const std::vector<uint32_t>& text) : steps_(steps), text_(text), seen_(steps.size(), 0) {}

  /// Follows step `from` to all that wait at place `at`, which grows from call to call.
  void add(size_t from, size_t at, std::vector<size_t>& waiting) {
    todo_.assign(1, from);
    while (!todo_.empty()) {
      const size_t k = todo_.back();
      todo_.pop_back();
      if (seen_[k] == at + 1) continue;
      seen_[k] = at + 1;
      const Step& s = steps_[k];
      if (s.kind == Kind::set || s.kind == Kind::match) waiting.push_back(k);
      else if (s.kind == Kind::split) todo_.insert(todo_.end(), {s.b, s.a});
      else if (s.kind == Kind::jump) todo_.push_back(s.a);
      else if (holds(s.kind, at)) todo_.push_back(k + 1);
    }
  }

 private:
  bool holds(Kind edge, size_t at) const {
    if (edge == Kind::begin) return at == 0;
    if (edge == Kind::end) return at == text_.size();
    const bool before = at > 0 && is_word(text_[at - 1]), behind = at < text_.size() && is_word(text_[at]);
    return (before != behind) == (edge == Kind::word_edge);
  }

  const std::vector<Step>& steps_;
  const std::vector<uint32_t>& text_;
  std::vector<size_t> seen_, todo_;
};

}  // namespace

bool TextPattern::Set::has(uint32_t c) const {
  const bool inside = std::ranges::any_of(ranges, [c](auto r) { return r.first <= c && c <= r.second; });
  return inside != negated;
}

Result<TextPattern> TextPattern::parse(std::string_view pattern, const std::string& where) {
  const Part all = TRY(Reader(pattern, where).read());
  TextPattern out;
  if (!KernelEmitter{out.sets_, out.steps_}.emit(all))
    return fail(Code::limit_exceeded, where, "the pattern is too large").expected("at most 20000 steps").found("more");
  out.steps_.push_back({});
  return out;
}

bool TextPattern::matches(std::string_view text) const {
  const std::vector<uint32_t> letters = code_points(text);
  Front front(steps_, letters);
  std::vector<size_t> now, next;
  front.add(0, 0, now);
  for (size_t at = 0; at < letters.size(); ++at) {
    next.clear();
    for (size_t k : now)
      if (steps_[k].kind == Step::Kind::set && sets_[steps_[k].a].has(letters[at])) front.add(k + 1, at + 1, next);
    now.swap(next);
  }
  return std::ranges::any_of(now, [&](size_t k) { return steps_[k].kind == Step::Kind::match; });
}

}  // namespace tenon::ops
