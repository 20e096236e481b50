// SPDX-License-Identifier: Apache-2.0
#include "base/dim/algebra.h"

namespace tenon::inline base {
namespace {

/// Names that are no identifiers are in quotes: a quote or backslash inside is doubled by a backslash.
std::string name_text(const std::string& name) {
  if (is_plain_name(name)) return name;
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string_view word_of(DimNode::Kind kind) {
  switch (kind) {
    case DimNode::Kind::floor_div: return "floordiv";
    case DimNode::Kind::min: return "min";
    case DimNode::Kind::max: return "max";
    case DimNode::Kind::select: return "select";
    case DimNode::Kind::less: return "less";
    case DimNode::Kind::equal: return "equal";
    default: return "overflow";
  }
}

std::string node_text(const DimNode& node);

std::string term_text(const DimNode::Term& term) {
  const uint64_t magnitude = term.coefficient < 0 ? 0 - static_cast<uint64_t>(term.coefficient) : static_cast<uint64_t>(term.coefficient);
  std::string out = magnitude == 1 && !term.factors.empty() ? "" : std::to_string(magnitude);
  for (const DimNode* factor : term.factors) out += (out.empty() ? "" : "*") + node_text(*factor);
  return out;
}

std::string node_text(const DimNode& node) {
  if (node.kind == DimNode::Kind::symbol) return name_text(node.name);
  std::string out;
  if (node.kind == DimNode::Kind::polynomial) {
    for (const DimNode::Term& term : node.terms) {
      const bool negative = term.coefficient < 0;
      out += out.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
      out += term_text(term);
    }
    return out;
  }
  out = word_of(node.kind);
  for (size_t i = 0; i < node.operands.size(); ++i) out += (i == 0 ? "(" : ", ") + node.operands[i].text();
  return node.operands.empty() ? out : out + ")";
}

}  // namespace

std::string Dim::text() const { return is_number() ? std::to_string(value()) : node_text(*node()); }

std::string text_of(const DimList& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i == 0 ? "" : ", ") + dims[i].text();
  return out + "]";
}

}  // namespace tenon::inline base
