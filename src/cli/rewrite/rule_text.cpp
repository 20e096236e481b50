// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/rule_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ops/core/op.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(rewrite::Stage stage) {
  switch (stage) {
    case rewrite::Stage::clean: return "clean";
    case rewrite::Stage::fuse: return "fuse";
    case rewrite::Stage::trim: return "trim";
    case rewrite::Stage::combine: return "combine";
    case rewrite::Stage::target: return "target";
  }
  return "unknown";
}

Json words(const std::string& text) {
  Json out = Json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// "A => B where c" on a line each.
void add_equation(const std::string& text, std::vector<std::string>& lines) {
  size_t at = 0;
  for (std::string_view part : {" => ", " where "}) {
    const size_t end = text.find(part, at);
    if (end == std::string::npos) continue;
    lines.push_back("    " + text.substr(at, end - at));
    at = end + 1;
  }
  lines.push_back("    " + text.substr(at));
}

std::string equation_of(const rewrite::CompiledRule& r) {
  if (!r.equation) return {};
  std::string sides[2];
  for (const auto& [roots, side] : {std::pair(&r.equation->left, &sides[0]), std::pair(&r.equation->right, &sides[1])})
    for (int root : *roots) *side += (side->empty() ? "" : ", ") + r.equation->text(root);
  std::string where;
  for (const rewrite::Condition& c : r.equation->conditions) where += (where.empty() ? " where " : ", ") + c.text;
  return sides[0] + " => " + sides[1] + where;
}

/// The equation as it is written; of a rule in builder style the one that its patterns make.
std::string equation_of(const rewrite::Rule& r) {
  if (!r.match_pattern) return std::string(r.equation);
  const auto compiled = rewrite::compile(r, ops::table());
  return compiled ? equation_of(**compiled) : std::string();
}

}  // namespace

RuleText text_of(const rules::Entry& e) {
  const rewrite::Rule& r = *e.rule;
  return {std::string(r.name),
          std::string(r.docs),
          std::string(e.sets),
          std::string(r.covered_patterns),
          std::string(r.roots),
          std::string(rewrite::name_of(r.numerics)),
          std::string(name_of(e.stage)),
          std::string(e.source),
          equation_of(r),
          r.benefit,
          r.allow_outside_uses};
}

RuleText text_of(const rewrite::CompiledRule& r, const std::string& file) {
  std::string roots;
  for (const std::string& root : r.roots) roots += (roots.empty() ? "" : " ") + root;
  return {r.name,
          r.docs,
          r.sets,
          r.covered_patterns,
          roots,
          std::string(rewrite::name_of(r.numerics)),
          std::string(name_of(r.stage)),
          file,
          equation_of(r),
          r.benefit,
          r.allow_outside_uses};
}

Json json_of(const RuleText& r) {
  return {{"name", r.name},
          {"set", r.sets},
          {"numerics", r.numerics},
          {"stage", r.stage},
          {"docs", r.docs},
          {"seeds", words(r.seeds)},
          {"equation", r.equation.empty() ? Json(nullptr) : Json(r.equation)},
          {"roots", words(r.roots)},
          {"benefit", r.benefit},
          {"shared", r.shared},
          {"file", r.file}};
}

std::vector<std::string> lines_of(const RuleText& r) {
  std::vector<std::string> out{r.name, "  " + r.docs};
  if (!r.equation.empty()) add_equation(r.equation, out);
  const auto fact = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out.push_back(fmt::format("  {:<10}{}", label, text));
  };
  fact("starts at",
       r.equation.empty() && r.file.ends_with(".cpp") ? (r.roots.empty() || r.roots == "*" ? "every op" : r.roots) + " (code)" : r.roots);
  fact("sets", r.sets);
  fact("numerics", r.numerics);
  fact("stage", r.stage);
  fact("benefit", std::to_string(r.benefit));
  fact("inside", r.shared ? "its inner values may have other users" : "its inner values have no other users");
  fact("covers", r.seeds);
  fact("file", r.file);
  return out;
}

}  // namespace tenon::cli
