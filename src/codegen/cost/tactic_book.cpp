// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "codegen/cost/tactic.h"

namespace tenon::codegen {
namespace {

/// Whether the group computes the node of that name.
bool computes(const Group& group, const ir::Graph& graph, std::string_view name) {
  if (group.is_auxiliary()) return false;
  const auto is_named = [&](ir::NodeId n) { return n && graph.node(n).name == name; };
  if (is_named(group.node)) return true;
  const auto contains = [&](const Nest& nest) { return std::ranges::any_of(nest.nodes, is_named); };
  return std::ranges::any_of(group.nests, contains) || (group.epilogue && contains(group.epilogue->map));
}

/// The line without its comment and without blanks at its end.
std::string_view without_comment(std::string_view line) {
  line = line.substr(0, line.find('#'));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<TacticBook::Line> TacticBook::line_of(std::string_view text, std::string place) {
  const size_t colon = text.rfind(": ", text.find('='));
  if (colon == text.npos || text.find('=') == text.npos)
    return fail(Code::bad_usage, std::move(place), "this is no tactic")
        .expected("NODE: field=value ..., for instance /MatMul: tile=6x4")
        .found(std::string(text));
  return Line{std::move(place), std::string(text.substr(0, colon)), std::string(text.substr(colon + 2))};
}

Result<TacticBook> TacticBook::parse(std::string_view text, const std::string& place) {
  TacticBook out;
  int number = 0;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_comment(text.substr(at, end - at));
    at = end + 1;
    if (!line.empty()) out.lines_.push_back(TRY(line_of(line, fmt::format("{}:{}", place, number + 1))));
  }
  return out;
}

Result<Tactic> TacticBook::tactic_of(const Group& group, const ir::Graph& graph, const Target& target) const {
  Tactic tactic = default_tactic(group, target);
  for (size_t k = 0; k < lines_.size(); ++k) {
    const Line& line = lines_[k];
    const bool all = line.node == "*";
    if (!all && !computes(group, graph, line.node)) continue;
    used_.insert(k);
    const Result<Tactic> next = override_fields(tactic, all ? known_fields(line.fields, tactic) : line.fields, target);
    if (!next) return Error(next.error()).at(line.place);
    tactic = *next;
  }
  return tactic;
}

Result<void> TacticBook::check_used() const {
  for (size_t k = 0; k < lines_.size(); ++k)
    if (!used_.contains(k) && lines_[k].node != "*")
      return fail(Code::bad_usage, lines_[k].place, "no group computes a node of this name")
          .expected("a node of the graph as it is compiled (tenon inspect ENGINE --text), or *")
          .found(lines_[k].node);
  return {};
}

}  // namespace tenon::codegen
