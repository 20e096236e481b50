// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tenon::rewrite {
namespace {

using Kind = Term::Kind;

constexpr std::array<std::string_view, 6> kUnary = {"Abs", "Relu", "Neg", "Exp", "Not", "Sqrt"};
constexpr std::array<std::string_view, 5> kBinary = {"Sub", "Mul", "Add", "Min", "Or"};

/// Builds the left side bottom-up.
class Cook {
 public:
  Cook(const Recipe& recipe, const ir::OpTable& ops)
      : r_(recipe),
        e_(*recipe.equation),
        graph_(std::make_unique<Graph>(ops)),
        build_(*graph_),
        values_(e_.variables.size()),
        known_(e_.variables.size()) {}

  std::unique_ptr<Graph> graph() {
    std::vector<ValueId> outputs;
    for (int root : e_.left) outputs.push_back(term(root, r_.dtype));
    if (!build_.status()) return nullptr;
    outputs.insert(outputs.end(), more_outputs_.begin(), more_outputs_.end());
    for (ValueId v : outputs) {
      if (!v) return nullptr;
      graph_->add_output(v);
    }
    return std::move(graph_);
  }

 private:
  uint32_t draw_of(int variable) const { return r_.draws[static_cast<size_t>(variable)]; }
  bool is_fault(Fault::Kind kind, int term) const { return r_.fault.kind == kind && r_.fault.term == term; }

  ValueId input(DType dtype, Sizes shape) {
    ir::Type type(dtype);
    type.shape.emplace(shape.begin(), shape.end());
    return graph_->add_input(fmt::format("in{}", graph_->inputs().size()), std::move(type));
  }
  ValueId filled(DType dtype, Sizes shape, double from, double step) {
    auto tensor = Tensor::make(dtype, std::move(shape));
    if (!tensor) return {};
    for (int64_t i = 0; i < tensor->count(); ++i) tensor->set_number(i, from + step * static_cast<double>(i));
    return build_.constant(std::move(*tensor));
  }

  /// What a name stands for: likely things first.
  ValueId candidate(uint32_t draw) {
    const Sizes& s = r_.shape;
    const int64_t last = s.empty() ? 1 : s.back();
    const auto rank = static_cast<int64_t>(s.size());
    switch (draw % 16) {
      case 0:
      case 1:
      case 2: return input(r_.dtype, s);
      case 3: return filled(r_.dtype, {last}, 0.5, 0.25);
      case 4: return filled(r_.dtype, {}, 1e-5, 0);
      case 5: return filled(r_.dtype, {}, 2, 0);
      case 6: return build_.ints({-1});
      case 7: return build_.ints({0});
      case 8: return build_.ints({1});
      case 9: return build_.ints(std::vector<int64_t>(s.begin(), s.end()));
      case 10: return input(DType::boolean, s);
      case 11: return input(r_.dtype, {last, 4});
      case 12: return filled(r_.dtype, {last, 4}, -1, 0.125);
      case 13: return filled(r_.dtype, s, -1, 0.125);
      case 14: return build_.ints({0, -1});
      default: return build_.ints({rank - 1});
    }
  }

  ValueId variable(const Term& t) {
    const auto v = static_cast<size_t>(t.variable);
    if (known_[v]) return values_[v];
    known_[v] = true;
    if (t.optional && draw_of(t.variable) % 2 == 1) return {};
    return values_[v] = candidate(t.optional ? draw_of(t.variable) / 2 : draw_of(t.variable));
  }

  ValueId term(int index, DType hint) {
    const Term& t = e_.terms[static_cast<size_t>(index)];
    switch (t.kind) {
      case Kind::variable: return variable(t);
      case Kind::number: return number(t, index, hint);
      case Kind::ints: {
        auto ints = t.ints;
        if (is_fault(Fault::Kind::constant, index)) {
          if (ints.empty()) ints.push_back(0);
          else ints.back() = ints.back() == 0 ? 1 : 0;
        }
        return build_.ints(std::move(ints));
      }
      case Kind::tensor: return constant(t, index);
      case Kind::either: return term(t.operands[r_.draws[e_.variables.size() + static_cast<size_t>(index)] % t.operands.size()], hint);
      case Kind::op: return op(t, index, hint);
      case Kind::rest:
      case Kind::missing:
      case Kind::computed: break;
    }
    return {};
  }

  ValueId constant(const Term& t, int index) {
    if (!is_fault(Fault::Kind::constant, index) || t.tensor.count() == 0) return build_.constant(t.tensor);
    auto other = Tensor::make(t.tensor.dtype(), t.tensor.shape());
    if (!other) return {};
    store_numbers(*other, numbers_of(t.tensor));
    other->set_number(0, t.tensor.number(0) == 0 ? 1 : 0);
    return build_.constant(std::move(*other));
  }

  ValueId number(const Term& t, int index, DType hint) {
    double value = t.number;
    if (is_fault(Fault::Kind::constant, index)) value = std::isfinite(value) ? value * 1.5 + 1 + std::max(0.0, t.tolerance) * 4 : 1;
    return build_.scalar(hint, value);
  }

  std::vector<ValueId> operands(const Term& t, DType hint) {
    std::vector<ValueId> out;
    std::vector<std::pair<size_t, int>> numbers;
    DType dtype = DType::none;
    for (int o : t.operands) {
      const Term& part = e_.terms[static_cast<size_t>(o)];
      if (part.kind == Kind::number) {
        numbers.emplace_back(out.size(), o);
        out.emplace_back();
        continue;
      }
      if (part.kind == Kind::rest) {
        auto& rest = rests_[part.variable];
        if (rest.empty()) rest = {input(r_.dtype, r_.shape), input(r_.dtype, r_.shape)};
        out.insert(out.end(), rest.begin(), rest.end());
        continue;
      }
      out.push_back(term(o, hint));
      if (out.back() && (dtype == DType::none || dtype == DType::boolean)) dtype = graph_->value(out.back()).type.dtype;
    }
    for (const auto& [place, o] : numbers) out[place] = term(o, dtype == DType::none ? hint : dtype);
    return out;
  }

  ir::Attributes attributes(const Term& t, int index) {
    ir::Attributes out;
    for (size_t i = 0; i < t.attributes.size(); ++i) {
      const Term::Given& given = t.attributes[i];
      const Expression& e = e_.expressions[static_cast<size_t>(given.expression)];
      std::optional<ir::Attribute> value;
      if (e.kind == Expression::Kind::literal) value = attribute_of(e.literal, given.floating);
      else if (e.kind == Expression::Kind::variable) value = captured(given, draw_of(e.variable));
      if (is_fault(Fault::Kind::attribute, index) && r_.fault.part == i && value) value = another(*value);
      if (value) out.set(given.name, std::move(*value));
    }
    return out;
  }

  /// A value for a captured attribute; nullopt: left out.
  std::optional<ir::Attribute> captured(const Term::Given& given, uint32_t draw) const {
    if (given.floating) return draw % 2 == 0 ? std::optional<ir::Attribute>(1e-5f) : std::nullopt;
    ir::Ints order(r_.shape.size());
    std::iota(order.begin(), order.end(), 0);
    switch (draw % 7) {
      case 0:
        if (given.has_default) return std::nullopt;
        std::ranges::reverse(order);
        return order;
      case 1:
        if (!order.empty()) std::ranges::rotate(order, order.begin() + 1);
        return order;
      case 2: return int64_t{1};
      case 3: return int64_t{0};
      case 4: return int64_t{-1};
      case 5: return static_cast<int64_t>(r_.dtype);
      default: return std::nullopt;
    }
  }

  static ir::Attribute another(const ir::Attribute& a) {
    if (const auto* i = std::get_if<int64_t>(&a)) return *i == 0 ? int64_t{1} : int64_t{0};
    if (const auto* f = std::get_if<float>(&a)) return *f * 2 + 1;
    if (const auto* s = std::get_if<std::string>(&a)) return *s == "none" ? std::string("tanh") : std::string("none");
    if (const auto* l = std::get_if<ir::Ints>(&a)) {
      ir::Ints turned = *l;
      if (!turned.empty()) std::ranges::rotate(turned, turned.begin() + 1);
      return turned;
    }
    return a;
  }

  ValueId op(const Term& t, int index, DType hint) {
    std::vector<ValueId> inputs = operands(t, hint);
    if (!build_.status()) return {};
    if (is_fault(Fault::Kind::fewer_operands, index) && !inputs.empty()) inputs.pop_back();
    if (is_fault(Fault::Kind::more_operands, index)) inputs.push_back(inputs.empty() ? input(r_.dtype, r_.shape) : inputs.back());
    const ir::Op* op = t.op;
    ir::Attributes attributes = this->attributes(t, index);
    if (is_fault(Fault::Kind::op, index)) {
      const auto other = [&](auto& names) {
        for (std::string_view name : names)
          if (name != op->name) return graph_->ops().find("", name);
        return op;
      };
      op = inputs.size() == 1 ? other(kUnary) : other(kBinary);
      attributes = {};
    }
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    const auto results =
        build_.many(*op, std::move(inputs), std::max<size_t>(t.result + 1u, static_cast<size_t>(op->min_outputs)), std::move(attributes));
    if (t.result >= results.size()) return {};
    const ValueId made = results[t.result];
    if (is_fault(Fault::Kind::output, index)) more_outputs_.push_back(made);
    if (is_fault(Fault::Kind::user, index)) more_outputs_.push_back(build_("Identity", {made}));
    return made;
  }

  const Recipe& r_;
  const Equation& e_;
  std::unique_ptr<Graph> graph_;
  ir::Builder build_;
  std::vector<ValueId> values_;
  std::vector<bool> known_;
  std::map<int, std::vector<ValueId>> rests_;
  std::vector<ValueId> more_outputs_;
};

}  // namespace

std::unique_ptr<Graph> graph_of(const Recipe& recipe, const ir::OpTable& ops) { return Cook(recipe, ops).graph(); }

std::vector<Fault> faults_of(const Recipe& recipe) {
  const Equation& e = *recipe.equation;
  std::vector<Fault> out;
  const auto visit = [&](auto& self, int index, bool root) -> void {
    const Term& t = e.terms[static_cast<size_t>(index)];
    const auto put = [&](Fault::Kind kind, std::string text, size_t part = 0) {
      out.push_back({kind, index, part, fmt::format("{}: {}", e.text(index), text)});
    };
    if (t.kind == Kind::number || t.kind == Kind::ints || t.kind == Kind::tensor) put(Fault::Kind::constant, "another constant");
    if (t.kind == Kind::either)
      return self(self, t.operands[recipe.draws[e.variables.size() + static_cast<size_t>(index)] % t.operands.size()], root);
    if (t.kind != Kind::op) return;
    for (size_t i = 0; i < t.attributes.size(); ++i) put(Fault::Kind::attribute, "another " + t.attributes[i].name, i);
    if (t.operands.size() == 1 || t.operands.size() == 2) put(Fault::Kind::op, "another op");
    if (static_cast<int>(t.operands.size()) > t.op->min_inputs) put(Fault::Kind::fewer_operands, "an operand less");
    if (t.op->max_inputs < 0 || static_cast<int>(t.operands.size()) < t.op->max_inputs) put(Fault::Kind::more_operands, "an operand more");
    if (!root) put(Fault::Kind::user, "a user outside");
    if (!root) put(Fault::Kind::output, "a graph output");
    for (int o : t.operands) self(self, o, false);
  };
  for (int root : e.left) visit(visit, root, true);
  return out;
}

}  // namespace tenon::rewrite
