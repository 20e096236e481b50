// SPDX-License-Identifier: Apache-2.0
// docs/rules-language.md: every example on it is read and run, and its list of functions is the one of the code.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "helpers.h"
#include "rewrite/compile/rules_file.h"
#include "rewrite/equation/functions.h"

namespace tenon::tests {
namespace {

std::string page() {
  std::ifstream file(TENON_TEST_DATA "/../../docs/rules-language.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Block {
  std::string language, text;
  int line = 0;
};

std::vector<Block> blocks() {
  std::vector<Block> out;
  std::istringstream text(page());
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) out.push_back({line.substr(3), "", number});
    } else if (inside) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

TEST(LanguagePage, EveryExampleIsTrue) {
  const auto all = blocks();
  int ran = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].language != "rules") continue;
    SCOPED_TRACE(fmt::format("docs/rules-language.md:{}", all[i].line));
    auto rules = rewrite::read_rules(all[i].text, "page.rules", ops::table());
    ASSERT_TRUE(rules) << rules.error().text();
    if (i + 1 == all.size() || all[i + 1].language != "graph") continue;
    const std::string& text = all[i + 1].text;
    const size_t becomes = text.find("becomes: ");
    ASSERT_NE(becomes, std::string::npos);
    auto graph = graph_of(text.substr(0, becomes));
    rewrite::RuleSet set(*rules, ops::table());
    ASSERT_TRUE(rewrite::rewrite(*graph, set));
    EXPECT_TRUE(ir::verify(*graph));
    EXPECT_EQ(ops_of(*graph) + "\n", text.substr(becomes + 9));
    ++ran;
  }
  EXPECT_GE(ran, 12);
}

TEST(LanguagePage, ErrorsReadAsShown) {
  const auto all = blocks();
  int seen = 0;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].language != "rules-wrong") continue;
    auto rules = rewrite::read_rules(all[i].text, "page.rules", ops::table());
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().text() + "\n", all[i + 1].text);
    ++seen;
  }
  EXPECT_GE(seen, 1);
}

TEST(LanguagePage, ListsEveryFunction) {
  std::string table = "<!-- functions -->\n| function | what it is |\n|---|---|\n";
  for (const rewrite::Function& f : rewrite::functions()) table += fmt::format("| `{}` | {} |\n", f.usage, f.docs);
  table += "<!-- end -->";
  EXPECT_NE(page().find(table), std::string::npos) << "the page should hold\n" << table;
}

}  // namespace
}  // namespace tenon::tests
