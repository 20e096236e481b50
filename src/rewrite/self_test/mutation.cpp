// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "rewrite/equation/functions.h"
#include "rewrite/self_test/instance.h"

namespace tenon::rewrite {
namespace {

/// Conditions that call one of these state a dtype.
constexpr std::array<std::string_view, 6> kAboutDtypes = {"float", "integer", "bool", "dtype", "same_dtype", "same_type"};
constexpr std::array kOtherTypes = {DType::f32, DType::f16, DType::f64, DType::i64, DType::boolean};

class OpInOtherDomain final : public ir::Op {
 public:
  explicit OpInOtherDomain(const ir::Op& op) : ir::Op(op), op_(op) { domain = "elsewhere"; }
  std::vector<ir::Type> body_input_types(const ir::NodeView& view, size_t body) const override { return op_.body_input_types(view, body); }
  Result<void> infer(ir::NodeView& view) const override {
    view.op = &op_;
    auto done = op_.infer(view);
    view.op = this;
    return done;
  }

 private:
  const ir::Op& op_;
};

/// Goes through the left side as the spec has chosen it.
class MutationCollector {
 public:
  explicit MutationCollector(const InstanceSpec& spec) : spec_(spec), equation_(*spec.equation) {}

  std::vector<Mutation> all() {
    for (int root : equation_.left) visit(root, true);
    for (const Condition& c : equation_.conditions) dtypes(c.expression, false);
    return std::move(out_);
  }

 private:
  using Kind = Mutation::Kind;
  void put(Kind kind, int term, std::string text, size_t part = 0) {
    out_.push_back({kind, term, part, fmt::format("{}: {}", equation_.text(term), text)});
  }

  void visit(int index, bool root) {
    const Term& t = equation_.terms[static_cast<size_t>(index)];
    switch (t.kind) {
      case Term::Kind::number:
      case Term::Kind::ints:
      case Term::Kind::tensor: return put(Kind::constant, index, "another constant");
      case Term::Kind::alternatives:
        return visit(t.operands[spec_.choices[equation_.variables.size() + static_cast<size_t>(index)] % t.operands.size()], root);
      case Term::Kind::variable:
        if (!seen_.insert(t.variable).second) put(Kind::variable, index, "another value where it comes again");
        return;
      case Term::Kind::op: return op(t, index, root);
      default: return;
    }
  }

  void op(const Term& t, int index, bool root) {
    const auto count = static_cast<int>(t.operands.size());
    for (size_t i = 0; i < t.attributes.size(); ++i) put(Kind::attribute, index, "another " + t.attributes[i].name, i);
    if (count == 1 || count == 2) put(Kind::op, index, "another op");
    put(Kind::domain, index, "the op of that name in another domain");
    if (t.op->max_outputs > 1) put(Kind::result, index, "another result");
    if (count > t.op->min_inputs) put(Kind::fewer_operands, index, "an operand less");
    if (t.op->max_inputs < 0 || count < t.op->max_inputs) put(Kind::more_operands, index, "an operand more");
    if (count == 2 && !t.op->commutative) put(Kind::swapped, index, "the operands swapped");
    if (!root) put(Kind::user, index, "a user outside");
    if (!root) put(Kind::output, index, "a graph output");
    for (int o : t.operands) visit(o, false);
  }

  /// Adds mutations of dtypes: for each name whose dtype a condition tests, and for all names at once.
  void dtypes(int index, bool asked) {
    const Expression& e = equation_.expressions[static_cast<size_t>(index)];
    if (e.kind == Expression::Kind::call && e.function) asked = std::ranges::find(kAboutDtypes, e.function->name) != kAboutDtypes.end();
    if (e.kind == Expression::Kind::variable && asked) {
      for (int variable : {-1, e.variable}) {
        if (!typed_.insert(variable).second) continue;
        for (DType d : kOtherTypes) {
          if (d == spec_.dtype) continue;
          const std::string whose = variable < 0 ? "all" : "?" + equation_.variables[static_cast<size_t>(variable)].name;
          out_.push_back({Kind::dtype, variable, static_cast<size_t>(d), fmt::format("{} of {}", whose, name_of(d))});
        }
      }
    }
    for (int a : e.arguments) dtypes(a, asked);
  }

  const InstanceSpec& spec_;
  const Equation& equation_;
  std::vector<Mutation> out_;
  std::set<int> seen_, typed_;
};

}  // namespace

std::string_view name_of(Mutation::Kind kind) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "none",           "constant",      "attribute",        "op",       "domain", "result", "dtype",
      "fewer operands", "more operands", "operands swapped", "variable", "user",   "output"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Mutation> mutations_of(const InstanceSpec& spec) { return MutationCollector(spec).all(); }

std::shared_ptr<const ir::Op> op_in_other_domain(const ir::Op& op) { return std::make_shared<OpInOtherDomain>(op); }

ir::Attribute different_attribute(const ir::Attribute& a) {
  if (const auto* i = std::get_if<int64_t>(&a)) return *i == 0 ? int64_t{1} : int64_t{0};
  if (const auto* f = std::get_if<float>(&a)) return *f * 2 + 1;
  if (const auto* s = std::get_if<std::string>(&a)) return *s == "none" ? std::string("tanh") : std::string("none");
  if (const auto* l = std::get_if<ir::Ints>(&a)) {
    ir::Ints rotated = *l;
    if (!rotated.empty()) std::ranges::rotate(rotated, rotated.begin() + 1);
    return rotated;
  }
  return a;
}

}  // namespace tenon::rewrite
