// SPDX-License-Identifier: Apache-2.0
#include "rewrite/compile/rules_file.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/nearest.h"
#include "rewrite/equation/functions.h"
#include "rewrite/equation/parser.h"

namespace tenon::rewrite {
namespace {

constexpr std::array<std::string_view, 3> kClasses = {"exact", "reassociating", "approximate"};
constexpr std::array<std::string_view, 3> kStatements = {"set", "numerics", "predicate"};
constexpr std::array<std::string_view, 5> kOptions = {"benefit", "shared", "numerics", "set", "seeds"};

class FileReader {
 public:
  FileReader(std::string_view text, std::string_view file, const ir::OpTable& ops, const UserFunctions& user_functions)
      : cursor_(text, file), ops_(ops), user_functions_(user_functions) {}

  Result<std::vector<RulePtr>> read() {
    if (cursor_.text().size() > kMostRuleBytes)
      return cursor_.error_at(0, fmt::format("a file of rules has at most {} bytes", kMostRuleBytes), Code::limit_exceeded)
          .found(fmt::format("{}", cursor_.text().size()));
    while (!cursor_.at_end()) TRY(statement());
    return std::move(rules_);
  }

 private:
  Result<void> statement() {
    cursor_.skip_blanks();
    const size_t start = cursor_.position();
    const std::string word = cursor_.identifier();
    if (word.empty()) return cursor_.error("the name of a rule, or one of set, numerics, predicate");
    if (cursor_.peek() == ':' || cursor_.peek() == '[') return rule(word, start);
    if (word == "set") return words("the name of a set", sets_);
    if (word == "numerics") return numerics(numerics_);
    if (word == "predicate") return predicate();
    const std::string near = nearest_name(word, kStatements);
    return cursor_.error("':' or '[' after the name of a rule").advice(near.empty() ? fmt::format("{}: Op(...) => ...", word) : near);
  }

  /// Names up to the end of the line.
  Result<void> words(std::string_view what, std::string& into) {
    into.clear();
    for (size_t end = cursor_.position();
         !cursor_.word().empty() && cursor_.text().substr(end, cursor_.position() - end).find('\n') == std::string_view::npos;
         end = cursor_.position())
      into += (into.empty() ? "" : " ") + cursor_.identifier();
    if (into.empty()) return cursor_.error(std::string(what) + " on the same line");
    return {};
  }

  Result<void> numerics(Numerics& into) {
    const std::string found(cursor_.word());
    for (size_t i = 0; i < kClasses.size(); ++i) {
      if (found != kClasses[i]) continue;
      into = static_cast<Numerics>(i);
      cursor_.identifier();
      return {};
    }
    return cursor_.error("exact, reassociating or approximate").advice(nearest_name(found, kClasses));
  }

  Result<void> predicate() {
    cursor_.skip_blanks();
    const size_t start = cursor_.position();
    const std::string name = cursor_.identifier();
    if (name.empty()) return cursor_.error("the name of a predicate");
    if (find_function(name) || user_functions_.functions.contains(name) || user_functions_.predicates.contains(name))
      return cursor_.error_at(start, fmt::format("there is a function {} already", name)).advice("another name");
    Equation scratch;
    auto definition = TRY(EquationParser(cursor_, ops_, user_functions_, scratch).predicate_definition());
    user_functions_.predicates.emplace(name, std::move(definition));
    return {};
  }

  Result<void> rule(const std::string& name, size_t start) {
    const auto [known, fresh] = places_.emplace(name, start);
    if (!fresh)
      return cursor_.error_at(start, fmt::format("rule {} is there already, in line {}", name, cursor_.line_of(known->second)))
          .advice("another name");
    if (rules_.size() >= kMostRules)
      return cursor_.error_at(start, fmt::format("a file has at most {} rules", kMostRules), Code::limit_exceeded);
    auto out = std::make_shared<CompiledRule>();
    out->name = name;
    out->docs = docs_above(start);
    out->sets = sets_;
    out->numerics = numerics_;
    if (cursor_.eat("[")) TRY(options(*out));
    if (!cursor_.eat(":")) return cursor_.error("':'");
    out->equation.emplace();
    TRY(EquationParser(cursor_, ops_, user_functions_, *out->equation).equation());
    rules_.push_back(std::move(out));
    return {};
  }

  Result<void> options(CompiledRule& rule) {
    do TRY(option(rule));
    while (cursor_.eat(","));
    if (!cursor_.eat("]")) return cursor_.error("',' or ']'");
    return {};
  }

  Result<void> option(CompiledRule& rule) {
    const std::string found(cursor_.word());
    if (cursor_.eat_word("shared")) {
      rule.allow_outside_uses = true;
      return {};
    }
    if (cursor_.eat_word("benefit")) {
      const int64_t benefit = TRY(cursor_.integer());
      if (benefit < -1000000 || benefit > 1000000) return cursor_.error("a benefit within a million");
      rule.benefit = static_cast<int>(benefit);
      return {};
    }
    if (cursor_.eat_word("numerics")) return numerics(rule.numerics);
    if (cursor_.eat_word("set")) return words("the name of a set", rule.sets);
    if (cursor_.eat_word("seeds")) return words("the names of rewrites", rule.covered_patterns);
    return cursor_.error("benefit, shared, numerics, set or seeds").advice(nearest_name(found, kOptions));
  }

  /// The comment lines right above the line of `at`, joined.
  std::string docs_above(size_t at) const {
    const std::string_view text = cursor_.text();
    std::string docs;
    size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    while (line > 0) {
      const size_t above = line < 2 ? 0 : text.rfind('\n', line - 2) + 1;
      std::string_view words = text.substr(above, line - 1 - above);
      while (!words.empty() && (words.front() == ' ' || words.front() == '\t')) words.remove_prefix(1);
      if (!words.starts_with('#')) break;
      words.remove_prefix(std::min(words.size(), words.find_first_not_of("# ")));
      while (!words.empty() && (words.back() == ' ' || words.back() == '\r')) words.remove_suffix(1);
      if (!words.empty()) docs = docs.empty() ? std::string(words) : fmt::format("{} {}", words, docs);
      line = above;
    }
    return docs;
  }

  Cursor cursor_;
  const ir::OpTable& ops_;
  UserFunctions user_functions_;
  std::string sets_;
  Numerics numerics_ = Numerics::exact;
  std::map<std::string, size_t> places_;
  std::vector<RulePtr> rules_;
};

}  // namespace

Result<std::vector<RulePtr>> read_rules(std::string_view text, std::string_view file_name, const ir::OpTable& ops,
                                        const UserFunctions& user_functions) {
  return FileReader(text, file_name.empty() ? "rules" : file_name, ops, user_functions).read();
}

}  // namespace tenon::rewrite
