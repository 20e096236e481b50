// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/excerpt_picture.h"

#include <fmt/format.h>

#include "ir/literal.h"

namespace tenon::cli {
namespace {

constexpr size_t kLongestText = 30;

bool inside_letter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The text in one line of at most `kLongestText` bytes: long names are cut at the beginning, other texts at the end.
std::string line_text(std::string_view text, bool is_name) {
  std::string_view shown = text;
  if (text.size() > kLongestText) {
    shown = is_name ? text.substr(text.size() - kLongestText) : text.substr(0, kLongestText);
    while (is_name && !shown.empty() && inside_letter(shown.front())) shown.remove_prefix(1);
    while (!is_name && !shown.empty() && inside_letter(text[shown.size()])) shown.remove_suffix(1);
  }
  std::string out;
  for (const char c : shown) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (shown.size() == text.size()) return out;
  return is_name ? "..." + out : out + "...";
}

/// Lines of one label, each centred. name: the first line is one.
std::string label_of(const std::vector<std::string>& lines, bool name = false) {
  std::string out;
  for (const std::string& line : lines)
    for (const char c : (out.empty() ? "" : "\n") + line_text(line, name && out.empty())) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') out += "\\n";
      else out += c;
    }
  return '"' + out + '"';
}

std::string constant_text(const ir::Graph& graph, ir::ValueId id) {
  const std::string elements = elements_shown(graph, id);
  return elements.empty() ? graph.value(id).type.text() : elements;
}

/// "Mul", then one line an attribute and a constant operand.
std::string node_label(const ir::Graph& graph, const ir::Node& node) {
  std::vector<std::string> lines{node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name};
  for (const auto& [name, value] : node.attributes) lines.push_back(name + "=" + ir::text_of(value));
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] && graph.value(node.inputs[i]).is_constant())
      lines.push_back(fmt::format("operand {}: {}", i, constant_text(graph, node.inputs[i])));
  return label_of(lines);
}

std::string port(std::string_view kind, size_t number, const std::string& name, const std::string& type) {
  return fmt::format("  {0}{1} [class=\"{0}\", shape=box, style=rounded, label={2}, margin=\"0.1,0.03\"];\n", kind, number,
                     label_of({name, type}, true));
}

std::string place_of(const ir::Graph& graph, ir::ValueId value) {
  const ir::Value& v = graph.value(value);
  if (v.is_constant()) return fmt::format("c{}", value.slot());
  return v.producer ? fmt::format("n{}", v.producer.slot()) : fmt::format("in{}", v.index);
}

std::string node_text(const ir::Graph& graph, ir::NodeId id, bool context) {
  const ir::Node& node = graph.node(id);
  std::string out =
      fmt::format("  n{} [class=\"{}\", shape=box, style=\"rounded,filled\", label={}, tooltip={}];\n", id.slot(),
                  context ? "context" : "op", node_label(graph, node), label_of({node.name.empty() ? node.op->name : node.name}, true));
  for (ir::ValueId v : node.inputs)
    if (v && !graph.value(v).is_constant())
      out += fmt::format("  {} -> n{} [label={}];\n", place_of(graph, v), id.slot(),
                         label_of({graph.value(v).producer ? graph.value(v).type.text() : ""}));
  return out;
}

std::string output_text(const ir::Graph& graph, uint32_t k) {
  const ir::ValueId value = graph.outputs()[k];
  const std::string from = place_of(graph, value);
  std::string out = port("out", k, graph.output_name(k), graph.value(value).type.text());
  if (graph.value(value).is_constant())
    out += fmt::format("  {} [class=\"in\", shape=box, style=rounded, label={}];\n", from, label_of({constant_text(graph, value)}));
  return out + fmt::format("  {} -> out{};\n", from, k);
}

}  // namespace

std::string excerpt_dot(const Excerpt& excerpt) {
  const ir::Graph& graph = *excerpt.graph;
  std::string out =
      "digraph {\n  rankdir=TB; bgcolor=\"transparent\"; nodesep=0.3; ranksep=0.35; pad=0.1;\n"
      "  node [fontname=\"Helvetica\", fontsize=12, margin=\"0.15,0.06\", height=0.3];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10, arrowsize=0.7];\n";
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    const ir::Value& value = graph.value(graph.inputs()[k]);
    out += port("in", k, value.name, value.type.text());
  }
  size_t place = 0;
  for (ir::NodeId id : graph.nodes()) out += node_text(graph, id, excerpt.context[place++]);
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) out += output_text(graph, k);
  return out + "}\n";
}

}  // namespace tenon::cli
