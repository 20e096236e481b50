// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rewrite/equation/equation.h"

namespace tenon::rewrite {
namespace {

using TermKind = Term::Kind;

class TextWriter {
 public:
  explicit TextWriter(const Equation& e) : equation_(e) {}

  std::string term(int index, int levels) const {
    const Term& t = equation_.terms[static_cast<size_t>(index)];
    switch (t.kind) {
      case TermKind::op: return op(t, levels);
      case TermKind::variable: return fmt::format("?{}{}", name(t.variable), t.optional ? "?" : "");
      case TermKind::variadic: return fmt::format("?{}...", name(t.variable));
      case TermKind::number: return t.tolerance < 0 ? fmt::format("{}", t.number) : fmt::format("{}~{}", t.number, t.tolerance);
      case TermKind::ints: return fmt::format("[{}]", fmt::join(t.ints, ", "));
      case TermKind::tensor: return fmt::format("constant {}{}", name_of(t.tensor.dtype()), t.tensor.shape());
      case TermKind::missing: return "_";
      case TermKind::computed_constant: return "const(...)";
      case TermKind::alternatives: break;
    }
    std::string out;
    for (int choice : t.operands) out += (out.empty() ? "(" : " | ") + term(choice, levels);
    return out + ")";
  }

 private:
  std::string name(int variable) const { return equation_.variables[static_cast<size_t>(variable)].name; }

  std::string op(const Term& t, int levels) const {
    std::string inside;
    const auto put = [&](const std::string& part) { inside += (inside.empty() ? "" : ", ") + part; };
    if (levels == 0 && !t.operands.empty()) put("...");
    else
      for (int operand : t.operands) put(term(operand, levels - 1));
    for (const Term::AttributePattern& pattern : t.attributes) {
      const Expression& e = equation_.expressions[static_cast<size_t>(pattern.expression)];
      put(fmt::format("{}={}", pattern.name,
                      e.kind == Expression::Kind::literal    ? text_of(e.literal)
                      : e.kind == Expression::Kind::variable ? "?" + name(e.variable)
                                                             : "..."));
    }
    const std::string domain = t.op->domain.empty() ? "" : t.op->domain + "::";
    return fmt::format("{}{}({}){}", domain, t.op->name, inside, t.result == 0 ? "" : fmt::format(".{}", t.result));
  }

  const Equation& equation_;
};

}  // namespace

std::string Equation::text(int term) const { return TextWriter(*this).term(term, 2); }

}  // namespace tenon::rewrite
