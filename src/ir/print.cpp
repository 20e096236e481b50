// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/literal.h"
#include "ir/text.h"

namespace tenon::ir {
namespace {

constexpr int64_t kDefaultUpper = int64_t{1} << 40;

/// The symbols that occur in the text, and whether a `symbol` line must state their order or bounds.
struct SymbolUse {
  std::unordered_set<const DimNode*> seen;
  bool composite = false;

  void see(const Type& type) {
    if (!type.shape) return;
    for (Dim d : *type.shape) {
      if (d.is_number()) continue;
      composite |= d.node()->kind != DimNode::Kind::symbol;
      each_symbol(d, [this](const DimNode& s) { seen.insert(&s); });
    }
  }
  void see(const Graph& graph) {
    for (ValueId v : graph.values()) see(graph.value(v).type);
    for (const Assumption& a : graph.assumptions.all()) see(Type(DType::none, {a.a, a.b}));
    for (NodeId n : graph.nodes()) {
      for (const Body& body : graph.node(n).bodies) see(*body.graph);
    }
  }
};

class Printer {
 public:
  Printer(TextConstants* big, int64_t inline_limit) : big_(big), limit_(inline_limit) {}

  std::string root(const Graph& graph) {
    SymbolUse symbols;
    symbols.see(graph);
    declare(symbols, graph.symbols());
    open(graph);
    for (const auto& [domain, version] : graph.opsets) line(fmt::format("opset {} = {}", quoted(domain), version));
    close(graph);
    return std::move(out_) + "\n";
  }

 private:
  /// Names of one graph's values by slot.
  using Names = std::vector<std::string>;

  void line(const std::string& text) {
    out_.append(2 * depth_, ' ');
    out_ += text;
    out_ += '\n';
  }

  /// Terms of polynomials are in the order in which their symbols were made; bounds are nowhere else. Both are printed
  /// as one line, where they differ from the defaults.
  void declare(const SymbolUse& use, const Symbols& symbols) {
    bool bounds = std::ranges::any_of(use.seen, [](const DimNode* s) { return s->lower != 0 || s->upper != kDefaultUpper; });
    if (!bounds && (!use.composite || use.seen.size() < 2)) return;
    std::string text;
    for (Dim d : symbols.all()) {
      const DimNode& s = *d.node();
      if (!use.seen.contains(&s)) continue;
      std::string spelled = d.text();
      text += (text.empty() ? "symbol " : ", ") + (spelled.starts_with('"') ? quoted(s.name) : spelled);
      if (s.lower != 0 || s.upper != kDefaultUpper) text += fmt::format(" in {} to {}", s.lower, s.upper);
    }
    if (!text.empty()) line(text);
  }

  /// The value's own name, or the next of v0, v1, ... that no value has.
  static void give_name(const Graph& graph, ValueId id, size_t& next, Names& names) {
    if (names.size() <= id.slot()) names.resize(id.slot() + 1);
    std::string& name = names[id.slot()];
    name = graph.value(id).name;
    while (name.empty()) {
      std::string candidate = fmt::format("v{}", next++);
      if (!graph.find_value(candidate)) name = candidate;
    }
    name = name_text(name);
  }

  static Names names_of(const Graph& graph) {
    Names names;
    size_t next = 0;
    auto give = [&](ValueId id) {
      if (id) give_name(graph, id, next, names);
    };
    for (ValueId id : graph.inputs()) give(id);
    for (ValueId id : graph.values()) {
      if (graph.value(id).is_constant()) give(id);
    }
    for (NodeId n : graph.nodes()) {
      for (ValueId id : graph.node(n).outputs) give(id);
    }
    return names;
  }

  static std::string annotated(const std::string& name, const Type& type) {
    if (type == Type()) return name;
    return name + ": " + type.text();
  }

  void open(const Graph& graph) {
    names_.push_back(names_of(graph));
    std::string head = "graph";
    if (!graph.name.empty()) head += " " + name_text(graph.name);
    head += "(";
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      ValueId id = graph.inputs()[i];
      head += (i ? ", " : "") + annotated(names_.back()[id.slot()], graph.value(id).type);
      if (graph.value(id).has_default()) head += " = " + default_of(graph.value(id));
    }
    line(head + ") {");
    ++depth_;
  }

  void close(const Graph& graph) {
    for (ValueId id : graph.values()) {
      const Value& v = graph.value(id);
      if (v.is_constant()) line("const " + annotated(names_.back()[id.slot()], v.type) + " = " + bytes(v.constant));
    }
    for (NodeId n : graph.nodes()) node(graph, graph.node(n));
    for (const Assumption& a : graph.assumptions.all())
      line(fmt::format("assume {} [{}, {}] {} {}", name_of(a.kind), a.a.text(), a.b.text(), quoted(a.where), quoted(a.what)));
    for (const State& s : graph.states()) state(graph, s);
    returned(graph);
    --depth_;
    names_.pop_back();
    out_.append(2 * depth_, ' ');
    out_ += "}";
  }

  void state(const Graph& graph, const State& s) {
    std::string text =
        fmt::format("state {}({}) = {}", name_text(s.name), names_.back()[s.input.slot()], names_.back()[graph.outputs()[s.output].slot()]);
    if (!is_first_output(graph, s.output)) text += fmt::format(" output {}", s.output);
    if (s.growing) text += fmt::format(" grows {} to {}", s.growing->axis, s.growing->capacity);
    if (s.initial) text += " from " + bytes(s.initial);
    line(text);
  }

  /// The output is named by its value where that names it alone.
  static bool is_first_output(const Graph& graph, uint32_t output) {
    return std::ranges::find(graph.outputs(), graph.outputs()[output]) == graph.outputs().begin() + output;
  }

  /// Outputs without names are called as their values are; of a root graph's that return one value, each in its own way.
  void returned(const Graph& graph) {
    std::unordered_set<std::string> used_names;
    for (uint32_t k = 0; k < graph.outputs().size(); ++k) used_names.insert(name_text(graph.output_name(k)));
    const bool is_root = names_.size() == 1;
    std::string text = "return";
    for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
      const std::string& name = names_.back()[graph.outputs()[k].slot()];
      std::string known_as = graph.output_name(k).empty() ? name : name_text(graph.output_name(k));
      if (is_root && graph.output_name(k).empty())
        for (int copy = 2; !used_names.insert(known_as).second; ++copy) known_as = fmt::format("{}_{}", name, copy);
      text += (k ? ", " : " ") + name;
      if (known_as != name) text += " as " + known_as;
    }
    line(text);
  }

  /// Strings have no bytes that could be stored apart from the text.
  bool is_left_out(DType dtype, int64_t count) const { return count > limit_ && (dtype != DType::string || !big_); }

  /// The default of an input as text; with its own type where the input has symbolic sizes.
  std::string default_of(const Value& input) {
    const Constant& c = *input.constant;
    return (input.type.is_static() ? "" : type_text(c.dtype, c.shape) + " = ") + bytes(input.constant);
  }

  std::string bytes(const ConstantRef& c) {
    if (is_left_out(c->dtype, c->count())) return by_number(c);
    Result<Tensor> tensor = materialise(*c);
    return tensor ? elements_text(*tensor) : by_number(c);
  }

  std::string by_number(const ConstantRef& c) {
    if (big_) {
      big_->constants.push_back(c);
      return fmt::format("@{}", big_->constants.size() - 1);
    }
    if (!c->is_plain()) return c->unread() ? "digest(\"not read\")" : "digest(\"lazy\")";
    const Tensor& t = std::get<Tensor>(c->source);
    return is_splat(t) ? "splat(" + element_text(t, 0) + ")" : fmt::format("digest(\"{:016x}\")", hash_of(t));
  }

  std::string attribute(const Attribute& a) {
    const Tensor* t = std::get_if<Tensor>(&a);
    if (!t || t->empty_handle() || !is_left_out(t->dtype(), t->count())) return text_of(a);
    return type_text(t->dtype(), t->shape()) + " = " + by_number(constant_of(*t));
  }

  std::string name_or_blank(ValueId id) const { return id ? names_.back()[id.slot()] : "_"; }

  std::string call(const Node& n) {
    std::string text = n.op->domain.empty() ? "" : name_text(n.op->domain) + "::";
    text += name_text(n.op->name) + "(";
    const char* comma = "";
    for (uint32_t k = 0; k < n.explicit_inputs; ++k, comma = ", ") text += comma + name_or_blank(n.inputs[k]);
    for (const auto& [key, value] : n.attributes) {
      text += comma + name_text(key) + "=" + attribute(value);
      comma = ", ";
    }
    text += ")";
    return n.name.empty() ? text : text + " @" + quoted(n.name);
  }

  void node(const Graph& graph, const Node& n) {
    std::string text;
    for (ValueId id : n.outputs) {
      text += text.empty() ? "" : ", ";
      text += id ? annotated(names_.back()[id.slot()], graph.value(id).type) : "_";
    }
    if (n.outputs.empty()) text = "()";
    text += " = " + call(n);
    if (n.bodies.empty()) return line(text);
    out_.append(2 * depth_, ' ');
    out_ += text;
    for (const Body& b : n.bodies) body(n, b);
    out_ += '\n';
  }

  void body(const Node& n, const Body& b) {
    out_ += " " + name_text(b.name) + "={\n";
    ++depth_;
    open(*b.graph);
    close(*b.graph);
    --depth_;
    out_ += "\n" + std::string(2 * depth_, ' ') + "}";
    if (b.captures == 0) return;
    out_ += " captures=[";
    for (uint32_t c = 0; c < b.captures; ++c) out_ += (c ? ", " : "") + name_or_blank(n.inputs[b.first_capture + c]);
    out_ += "]";
  }

  TextConstants* big_;
  int64_t limit_;
  std::string out_;
  size_t depth_ = 0;
  std::vector<Names> names_;
};

}  // namespace

std::string print(const Graph& graph, TextConstants* big, int64_t inline_limit) { return Printer(big, inline_limit).root(graph); }

}  // namespace tenon::ir
