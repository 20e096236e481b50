// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rewrite/equation.h"

namespace tenon::rewrite {
namespace {

using Kind = Term::Kind;

class Writer {
 public:
  explicit Writer(const Equation& e) : e_(e) {}

  std::string term(int index, int levels) const {
    const Term& t = e_.terms[static_cast<size_t>(index)];
    switch (t.kind) {
      case Kind::op: return op(t, levels);
      case Kind::variable: return fmt::format("?{}{}", name(t.variable), t.optional ? "?" : "");
      case Kind::rest: return fmt::format("?{}...", name(t.variable));
      case Kind::number: return t.tolerance < 0 ? fmt::format("{}", t.number) : fmt::format("{}~{}", t.number, t.tolerance);
      case Kind::ints: return fmt::format("[{}]", fmt::join(t.ints, ", "));
      case Kind::tensor: return fmt::format("constant {}{}", name_of(t.tensor.dtype()), t.tensor.shape());
      case Kind::missing: return "_";
      case Kind::computed: return "const(...)";
      case Kind::either: break;
    }
    std::string out;
    for (int choice : t.operands) out += (out.empty() ? "(" : " | ") + term(choice, levels);
    return out + ")";
  }

 private:
  std::string name(int variable) const { return e_.variables[static_cast<size_t>(variable)].name; }

  std::string op(const Term& t, int levels) const {
    std::string inside;
    const auto put = [&](const std::string& part) { inside += (inside.empty() ? "" : ", ") + part; };
    if (levels == 0 && !t.operands.empty()) put("...");
    else
      for (int operand : t.operands) put(term(operand, levels - 1));
    for (const Term::Given& given : t.attributes) {
      const Expression& e = e_.expressions[static_cast<size_t>(given.expression)];
      put(fmt::format("{}={}", given.name,
                      e.kind == Expression::Kind::literal    ? text_of(e.literal)
                      : e.kind == Expression::Kind::variable ? "?" + name(e.variable)
                                                             : "..."));
    }
    const std::string domain = t.op->domain.empty() ? "" : t.op->domain + "::";
    return fmt::format("{}{}({}){}", domain, t.op->name, inside, t.result == 0 ? "" : fmt::format(".{}", t.result));
  }

  const Equation& e_;
};

}  // namespace

std::string Equation::text(int term) const { return Writer(*this).term(term, 2); }

}  // namespace tenon::rewrite
