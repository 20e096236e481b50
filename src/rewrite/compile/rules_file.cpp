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
  FileReader(std::string_view text, std::string_view file, const ir::OpTable& ops, const Names& names)
      : c_(text, file), ops_(ops), names_(names) {}

  Result<std::vector<RulePtr>> read() {
    if (c_.text().size() > kMostRuleBytes)
      return c_.wrong(0, fmt::format("a file of rules has at most {} bytes", kMostRuleBytes), Code::limit_exceeded)
          .found(fmt::format("{}", c_.text().size()));
    while (!c_.at_end()) TRY(statement());
    return std::move(rules_);
  }

 private:
  Result<void> statement() {
    c_.skip();
    const size_t start = c_.at();
    const std::string word = c_.identifier();
    if (word.empty()) return c_.error("the name of a rule, or one of set, numerics, predicate");
    if (c_.peek() == ':' || c_.peek() == '[') return rule(word, start);
    if (word == "set") return words("the name of a set", sets_);
    if (word == "numerics") return numerics(numerics_);
    if (word == "predicate") return predicate();
    const std::string near = nearest_name(word, kStatements);
    return c_.error("':' or '[' after the name of a rule").advice(near.empty() ? fmt::format("{}: Op(...) => ...", word) : near);
  }

  /// Names up to the end of the line.
  Result<void> words(std::string_view what, std::string& into) {
    into.clear();
    for (size_t end = c_.at(); !c_.word().empty() && c_.text().substr(end, c_.at() - end).find('\n') == std::string_view::npos;
         end = c_.at())
      into += (into.empty() ? "" : " ") + c_.identifier();
    if (into.empty()) return c_.error(std::string(what) + " on the same line");
    return {};
  }

  Result<void> numerics(Numerics& into) {
    const std::string found(c_.word());
    for (size_t i = 0; i < kClasses.size(); ++i) {
      if (found != kClasses[i]) continue;
      into = static_cast<Numerics>(i);
      c_.identifier();
      return {};
    }
    return c_.error("exact, reassociating or approximate").advice(nearest_name(found, kClasses));
  }

  Result<void> predicate() {
    c_.skip();
    const size_t start = c_.at();
    const std::string name = c_.identifier();
    if (name.empty()) return c_.error("the name of a predicate");
    if (find_function(name) || names_.functions.contains(name) || names_.definitions.contains(name))
      return c_.wrong(start, fmt::format("there is a function {} already", name)).advice("another name");
    Equation scratch;
    auto definition = TRY(EquationParser(c_, ops_, names_, scratch).definition());
    names_.definitions.emplace(name, std::move(definition));
    return {};
  }

  Result<void> rule(const std::string& name, size_t start) {
    const auto [known, fresh] = places_.emplace(name, start);
    if (!fresh)
      return c_.wrong(start, fmt::format("rule {} is there already, in line {}", name, c_.line_of(known->second))).advice("another name");
    if (rules_.size() >= kMostRules) return c_.wrong(start, fmt::format("a file has at most {} rules", kMostRules), Code::limit_exceeded);
    auto out = std::make_shared<CompiledRule>();
    out->name = name;
    out->docs = docs_above(start);
    out->sets = sets_;
    out->numerics = numerics_;
    if (c_.eat("[")) TRY(options(*out));
    if (!c_.eat(":")) return c_.error("':'");
    out->equation.emplace();
    TRY(EquationParser(c_, ops_, names_, *out->equation).equation());
    rules_.push_back(std::move(out));
    return {};
  }

  Result<void> options(CompiledRule& rule) {
    do TRY(option(rule));
    while (c_.eat(","));
    if (!c_.eat("]")) return c_.error("',' or ']'");
    return {};
  }

  Result<void> option(CompiledRule& rule) {
    const std::string found(c_.word());
    if (c_.eat_word("shared")) {
      rule.shared = true;
      return {};
    }
    if (c_.eat_word("benefit")) {
      const int64_t benefit = TRY(c_.integer());
      if (benefit < -1000000 || benefit > 1000000) return c_.error("a benefit within a million");
      rule.benefit = static_cast<int>(benefit);
      return {};
    }
    if (c_.eat_word("numerics")) return numerics(rule.numerics);
    if (c_.eat_word("set")) return words("the name of a set", rule.sets);
    if (c_.eat_word("seeds")) return words("the names of rewrites", rule.seeds);
    return c_.error("benefit, shared, numerics, set or seeds").advice(nearest_name(found, kOptions));
  }

  /// The comment lines right above the line of `at`, joined.
  std::string docs_above(size_t at) const {
    const std::string_view text = c_.text();
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

  Cursor c_;
  const ir::OpTable& ops_;
  Names names_;
  std::string sets_;
  Numerics numerics_ = Numerics::exact;
  std::map<std::string, size_t> places_;
  std::vector<RulePtr> rules_;
};

}  // namespace

Result<std::vector<RulePtr>> read_rules(std::string_view text, std::string_view file_name, const ir::OpTable& ops, const Names& names) {
  return FileReader(text, file_name.empty() ? "rules" : file_name, ops, names).read();
}

}  // namespace tenon::rewrite
