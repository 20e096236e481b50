// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tenon::compiler {

/// How one test ended. refused: an error with code not_supported. broken: a crash, or no end.
enum class Ending { passed, refused, differs, broken };

inline std::string_view word_of(Ending ending) {
  switch (ending) {
    case Ending::passed: return "passed";
    case Ending::refused: return "refused";
    case Ending::differs: return "differs";
    case Ending::broken: break;
  }
  return "broken";
}

/// A list of tests that are expected not to pass, and the comparison of test results with it. Its text:
///
///   count node 1817                      how many tests there are of a suite (the name up to the first /)
///   refused: maps are not supported yet  a capability that lacks, or `differs:` and why the values may
///     node/test_zip_*                    names, * and ? as in a shell, indented
///     simple/test_x @3                   at one optimisation level alone
class ExpectedFailures {
 public:
  /// Empty, and complaints, where a line is not understood.
  static ExpectedFailures parse(std::string_view text) {
    ExpectedFailures out;
    std::istringstream lines{std::string(text)};
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.find_first_not_of(' ') == line.npos || line[0] == '#') continue;
      if (!(line[0] == ' ' ? out.add_pattern(line) : line.starts_with("count ") ? out.add_count(line) : out.add_reason(line)))
        out.complaints_.push_back(fmt::format("line {} is not understood: {}", number, line));
    }
    return out;
  }

  /// Records how test `name` ended at level `opt`. True where the list expects that.
  bool judge(const std::string& name, int opt, Ending ending) {
    ++found_[name.substr(0, name.find('/'))];
    Pattern* pattern = find(name, opt);
    if (!pattern) return ending == Ending::passed;
    ++pattern->used;
    const Reason& reason = reasons_[pattern->reason];
    if (ending != reason.ending) {
      complaints_.push_back(
          fmt::format("{}: {} at opt {}, but listed as \"{}: {}\"", name, word_of(ending), opt, word_of(reason.ending), reason.text));
      return false;
    }
    ++skipped_[fmt::format("{}: {}", word_of(reason.ending), reason.text)];
    return true;
  }

  /// After all tests at level `opt`: complaints about the list itself, those of `parse` and `judge` too.
  std::vector<std::string> complaints(int opt) {
    std::vector<std::string> out = complaints_;
    for (const Pattern& p : patterns_)
      if (p.used == 0 && p.opt.value_or(opt) == opt) out.push_back(fmt::format("no test is named {}", p.glob));
    for (const auto& [suite, count] : counts_)
      if (found_[suite] != count) out.push_back(fmt::format("{} tests of {} are expected, {} found", count, suite, found_[suite]));
    for (const auto& [suite, count] : found_)
      if (!counts_.contains(suite)) out.push_back(fmt::format("no count is held for {}, {} found", suite, count));
    return out;
  }

  /// Reasons with the number of tests that ended so, as listed.
  const std::map<std::string, size_t>& skipped() const { return skipped_; }

 private:
  struct Reason {
    Ending ending;
    std::string text;
  };
  struct Pattern {
    std::string glob;
    std::optional<int> opt;
    size_t reason, used = 0;
  };

  bool add_reason(std::string_view line) {
    for (Ending ending : {Ending::refused, Ending::differs}) {
      const std::string start = fmt::format("{}: ", word_of(ending));
      if (line.starts_with(start) && line.size() > start.size())
        return reasons_.push_back({ending, std::string(line.substr(start.size()))}), true;
    }
    return false;
  }

  bool add_pattern(const std::string& line) {
    std::istringstream words(line);
    Pattern pattern{.glob = {}, .opt = {}, .reason = reasons_.size() - 1};
    std::string level, more;
    words >> pattern.glob >> level >> more;
    if (reasons_.empty() || !more.empty()) return false;
    if (!level.empty()) {
      if (level.size() != 2 || level[0] != '@' || level[1] < '0' || level[1] > '9') return false;
      pattern.opt = level[1] - '0';
    }
    patterns_.push_back(std::move(pattern));
    return true;
  }

  bool add_count(const std::string& line) {
    std::istringstream words(line);
    std::string count, suite, more;
    size_t number = 0;
    if (!(words >> count >> suite >> number) || words >> more) return false;
    return counts_.emplace(suite, number).second;
  }

  Pattern* find(const std::string& name, int opt) {
    for (Pattern& p : patterns_)
      if (p.opt.value_or(opt) == opt && fnmatch(p.glob.c_str(), name.c_str(), 0) == 0) return &p;
    return nullptr;
  }

  std::vector<Reason> reasons_;
  std::vector<Pattern> patterns_;
  std::map<std::string, size_t> counts_, found_, skipped_;
  std::vector<std::string> complaints_;
};

}  // namespace tenon::compiler
