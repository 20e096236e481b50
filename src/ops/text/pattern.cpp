// SPDX-License-Identifier: Apache-2.0
#include "ops/text/pattern.h"

#include <algorithm>

#include "ops/text/letters.h"
#include "ops/text/pattern_reader.h"

namespace tenon::ops {

namespace {

using Set = TextPattern::Set;
using Step = TextPattern::Step;
using Kind = Step::Kind;

using Part = PatternPart;

constexpr size_t kMostSteps = 20000;

/// Appends the steps of a part. Returns false where there are too many.
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

/// The active states of the automaton at one position of the text: steps that consume a letter, or match.
class Front {
 public:
  Front(const std::vector<Step>& steps, const std::vector<uint32_t>& text) : steps_(steps), text_(text), seen_(steps.size(), 0) {}

  /// Adds all states that are reachable from step `from` without a letter, at position `at`, which increases from call to call.
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
    const bool before = at > 0 && is_word(text_[at - 1]), after = at < text_.size() && is_word(text_[at]);
    return (before != after) == (edge == Kind::word_edge);
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
  const Part all = TRY(read_pattern(pattern, where));
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
