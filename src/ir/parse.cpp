// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/parse_values.h"

namespace tenon::ir {
namespace {

constexpr size_t kMaxText = size_t{64} << 20;
constexpr size_t kMaxValues = size_t{8} << 20;
constexpr int kMaxNesting = 100;

/// A result's type as the text states it, to be compared with what inference finds.
struct Declared {
  Graph* graph;
  ValueId value;
  Type type;
  size_t at;
};

class Parser {
 public:
  Parser(std::string_view text, const OpTable& ops, const TextConstants* big, bool structure_only = false)
      : lexer_(text),
        root_(std::make_unique<Graph>(ops)),
        values_(lexer_, root_->symbols(), big, structure_only),
        structure_only_(structure_only) {}

  Result<std::unique_ptr<Graph>> run() {
    while (lexer_.peek().is("symbol")) TRY(symbols());
    TRY(graph(*root_, 0));
    if (lexer_.peek().kind != Token::Kind::end) return lexer_.error(lexer_.peek(), "text after the graph").expected("the end of the text");
    return std::move(root_);
  }

 private:
  // --- names ---

  Result<std::string> new_name(const Graph& g) {
    Token token = lexer_.peek();
    std::string text = TRY(values_.name("a value"));
    if (text.empty()) return lexer_.error(token, "an empty name");
    if (g.find_value(text)) return lexer_.error(token, "a name that another value has already");
    if (++value_count_ > kMaxValues) return lexer_.error(token, fmt::format("more than {} values", kMaxValues), Code::limit_exceeded);
    return text;
  }

  Result<ValueId> known(const Graph& g) {
    Token token = lexer_.peek();
    std::string text = TRY(values_.name("a value"));
    ValueId id = g.find_value(text);
    if (!id) return lexer_.error(token, "no value of this name comes before").expected("an input, constant or result of an earlier line");
    return id;
  }

  Result<ValueId> known_or_blank(const Graph& g) {
    if (lexer_.take_if("_")) return ValueId{};
    return known(g);
  }

  // --- graphs ---

  Result<void> graph(Graph& g, int depth) {
    Token word = TRY(lexer_.expect("graph", "a graph"));
    if (depth > kMaxNesting) return lexer_.error(word, fmt::format("bodies nest deeper than {}", kMaxNesting), Code::limit_exceeded);
    if (!lexer_.peek().is("(")) g.name = TRY(values_.name("a graph"));
    TRY(inputs(g, depth));
    TRY(lexer_.expect("{", "a graph"));
    while (true) {
      Token token = lexer_.peek();
      if (token.is("return")) break;
      if (token.is("const")) TRY(constant(g));
      else if (token.is("opset")) TRY(opset(g));
      else if (token.is("assume") && lexer_.peek(2).is("[")) TRY(assumption(g));
      else if (token.is("state") && lexer_.peek(2).is("(")) TRY(state(g, depth));
      else TRY(node(g, depth));
    }
    TRY(outputs(g, depth));
    if (depth == 0) TRY(add_states(g));
    TRY(lexer_.expect("}", "a graph"));
    return {};
  }

  Result<void> inputs(Graph& g, int depth) {
    TRY(lexer_.expect("(", "a graph's inputs"));
    if (lexer_.take_if(")")) return {};
    do {
      std::string name = TRY(new_name(g));
      Type type;
      if (lexer_.take_if(":")) type = TRY(values_.type());
      const Token mark = lexer_.peek();
      const bool has_default = lexer_.take_if("=");
      if (has_default && depth > 0) return lexer_.error(mark, "an input of a body with a default");
      if (!has_default && g.required_inputs() < g.inputs().size())
        return lexer_.error(mark, "an input without a default after one that has one");
      const Type stated = type;
      const ValueId input = g.add_input(std::move(name), std::move(type));
      if (has_default) g.set_default(input, TRY(default_of(stated)));
    } while (lexer_.take_if(","));
    TRY(lexer_.expect(")", "a graph's inputs"));
    return {};
  }

  /// The default of an input with symbolic sizes, which states its own type: "f32[3] = [1, 2, 3]".
  Result<ConstantRef> default_of(const Type& type) {
    const Token near = lexer_.peek();
    if (type.is_static()) return values_.constant(type);
    const Type own = TRY(values_.type());
    if (own.dtype != type.dtype || !own.is_static())
      return lexer_.error(near, "no type of a default").expected("the input's dtype and sizes");
    TRY(lexer_.expect("=", "a default"));
    return values_.constant(own);
  }

  Result<void> outputs(Graph& g, int depth) {
    lexer_.take();
    if (lexer_.peek().is("}")) return {};
    std::unordered_set<std::string> seen;
    do {
      const Token at = lexer_.peek();
      ValueId id = TRY(known(g));
      std::string name;
      if (lexer_.take_if("as")) name = TRY(values_.name("an output"));
      g.add_output(id, std::move(name));
      const std::string& output_name = g.output_name(static_cast<uint32_t>(g.outputs().size() - 1));
      if (depth == 0 && !seen.insert(output_name).second)
        return lexer_.error(at, fmt::format("two outputs are called '{}'", output_name), Code::bad_graph);
    } while (lexer_.take_if(","));
    return {};
  }

  Result<void> constant(Graph& g) {
    lexer_.take();
    std::string name = TRY(new_name(g));
    TRY(lexer_.expect(":", "a constant"));
    Type type = TRY(values_.type());
    TRY(lexer_.expect("=", "a constant"));
    g.add_constant(TRY(values_.constant(type)), std::move(name));
    return {};
  }

  Result<void> symbols() {
    lexer_.take();
    do { TRY(values_.symbol()); } while (lexer_.take_if(","));
    return {};
  }

  Result<void> opset(Graph& g) {
    lexer_.take();
    std::string domain = TRY(values_.name("a domain"));
    TRY(lexer_.expect("=", "an opset"));
    g.opsets.emplace_back(std::move(domain), TRY(values_.integer("an opset")));
    return {};
  }

  Result<void> assumption(Graph& g) {
    lexer_.take();
    Token near = lexer_.take();
    const auto kind = size_relation_named(near.text);
    const DimList sizes = TRY(values_.sizes());
    if (!kind || sizes.size() != 2)
      return lexer_.error(near, "no assumption of two sizes").expected("equal, broadcast, at_least or spreads [a, b]");
    std::string where = TRY(values_.name("a place")), what = TRY(values_.name("what is wrong"));
    g.assumptions.add(*kind, sizes[0], sizes[1], [&](Assumption& a) {
      a.where = std::move(where);
      a.what = std::move(what);
    });
    return {};
  }

  /// `state k(past) = present grows 2 to 4096`: read before the outputs, to which it refers.
  Result<void> state(const Graph& g, int depth) {
    StatedState out{.near = lexer_.take()};
    if (depth > 0) return lexer_.error(out.near, "a state of a body").expected("states of the whole graph alone");
    out.state.name = TRY(values_.name("a state"));
    TRY(lexer_.expect("(", "a state"));
    out.state.input = TRY(known(g));
    TRY(lexer_.expect(")", "a state"));
    TRY(lexer_.expect("=", "a state"));
    out.new_value = TRY(known(g));
    if (lexer_.take_if("output")) out.output = TRY(values_.integer("an output"));
    if (lexer_.take_if("grows")) {
      const int64_t axis = TRY(values_.integer("an axis"));
      TRY(lexer_.expect("to", "a growing axis"));
      out.state.growing = GrowingAxis{static_cast<uint32_t>(axis), TRY(values_.integer("a capacity"))};
    }
    if (lexer_.take_if("from")) {
      const Type& type = g.value(out.state.input).type;
      if (!type.is_static()) return lexer_.error(out.near, "an initial value of a state without a fixed shape");
      out.state.initial = TRY(values_.constant(type));
    }
    states_.push_back(std::move(out));
    return {};
  }

  Result<void> add_states(Graph& g) {
    for (StatedState& s : states_) {
      const auto found = std::ranges::find(g.outputs(), s.new_value);
      const auto output = s.output.value_or(found - g.outputs().begin());
      if (output < 0 || output >= static_cast<int64_t>(g.outputs().size()) || g.outputs()[static_cast<size_t>(output)] != s.new_value)
        return lexer_.error(s.near, "the new value of a state must be an output of the graph");
      s.state.output = static_cast<uint32_t>(output);
      if (auto fits = check_state(g, s.state); !fits && !structure_only_) return std::move(fits).error().at(lexer_.place(s.near.at));
      g.add_state(std::move(s.state));
    }
    return {};
  }

  // --- nodes ---

  struct Made {
    std::string name;  ///< empty: `_`
    std::optional<Type> type;
    size_t at = 0;
  };

  /// A name, perhaps with its type, or "_" for a result that is not requested.
  Result<Made> result(const Graph& g, std::span<const Made> others) {
    Made out;
    const Token token = lexer_.peek();
    out.at = token.at;
    if (lexer_.take_if("_")) return out;
    out.name = TRY(new_name(g));
    for (const Made& other : others)
      if (other.name == out.name) return lexer_.error(token, "a name that another value has already");
    if (lexer_.take_if(":")) out.type = TRY(values_.type());
    return out;
  }

  Result<std::vector<Made>> results(const Graph& g) {
    std::vector<Made> out;
    if (lexer_.take_if("(")) {
      TRY(lexer_.expect(")", "a node without results"));
      TRY(lexer_.expect("=", "a node"));
      return out;
    }
    do {
      out.push_back(TRY(result(g, out)));
      if (out.size() > 1024) return lexer_.error(lexer_.peek(), "more than 1024 results of a node", Code::limit_exceeded);
    } while (lexer_.take_if(","));
    TRY(lexer_.expect("=", "a node"));
    return out;
  }

  Result<const Op*> op() {
    Token token = lexer_.peek();
    std::string domain, name = TRY(values_.name("an op"));
    if (lexer_.take_if("::")) {
      domain = std::move(name);
      name = TRY(values_.name("an op"));
    }
    const Op* found = root_->ops().find(domain, name);
    if (!found) return lexer_.error(token, "no op of this name").found(domain.empty() ? name : domain + "::" + name);
    return found;
  }

  Result<void> arguments(const Graph& g, std::vector<ValueId>& operands, Attributes& attributes) {
    TRY(lexer_.expect("(", "a node's operands"));
    if (lexer_.take_if(")")) return {};
    do {
      Token token = lexer_.peek();
      if (!lexer_.peek(1).is("=")) {
        operands.push_back(TRY(known_or_blank(g)));
        continue;
      }
      std::string name = TRY(values_.name("an attribute"));
      lexer_.take();
      if (attributes.has(name)) return lexer_.error(token, "an attribute that the node has already");
      attributes.set(std::move(name), TRY(values_.attribute()));
    } while (lexer_.take_if(","));
    TRY(lexer_.expect(")", "a node's operands"));
    return {};
  }

  /// "captures = [a, b]", which may be missing.
  Result<std::vector<ValueId>> captures(const Graph& g) {
    std::vector<ValueId> out;
    if (!lexer_.peek().is("captures") || !lexer_.peek(1).is("=") || !lexer_.peek(2).is("[")) return out;
    for (int i = 0; i < 3; ++i) lexer_.take();
    do { out.push_back(TRY(known(g))); } while (lexer_.take_if(","));
    TRY(lexer_.expect("]", "the captures of a body"));
    return out;
  }

  Result<void> body(Graph& g, NodeId id, int depth) {
    Token near = lexer_.peek();
    std::string name = TRY(values_.name("a body"));
    lexer_.take();  // =
    lexer_.take();  // {
    auto inner = Graph::body_of(g);
    TRY(graph(*inner, depth + 1));
    TRY(lexer_.expect("}", "a body"));
    const std::vector<ValueId> taken = TRY(captures(g));
    if (taken.size() > inner->inputs().size()) {
      return lexer_.error(near, "more captures than the body has inputs").expected(fmt::format("at most {}", inner->inputs().size()));
    }
    g.attach_body(id, std::move(name), std::move(inner), taken);
    return {};
  }

  Result<void> node(Graph& g, int depth) {
    Token near = lexer_.peek();
    std::vector<Made> made = TRY(results(g));
    const Op* what = TRY(op());
    std::vector<ValueId> operands;
    Attributes attributes;
    TRY(arguments(g, operands, attributes));
    std::string node_name;
    if (lexer_.take_if("@")) node_name = TRY(values_.name("a node"));
    NodeId id = g.insert(*what, std::move(operands), made.size(), std::move(attributes));
    g.set_name(id, std::move(node_name));
    // Bodies first: while they are read, the results are not known yet.
    while (lexer_.peek(1).is("=") && lexer_.peek(2).is("{")) TRY(body(g, id, depth));
    name_results(g, id, made);
    return depth > 0 || structure_only_ ? Result<void>{} : inferred(g, id, near);
  }

  void name_results(Graph& g, NodeId id, std::vector<Made>& made) {
    std::vector<ValueId> ids = g.node(id).outputs;
    for (size_t k = 0; k < made.size(); ++k) {
      if (made[k].type) {
        g.set_type(ids[k], *made[k].type);
        if (!structure_only_) declared_.push_back({&g, ids[k], std::move(*made[k].type), made[k].at});
      }
      if (!made[k].name.empty()) g.set_name(ids[k], std::move(made[k].name));
    }
    for (size_t k = 0; k < made.size(); ++k) {
      if (g.value(ids[k]).name.empty()) g.drop_result(id, static_cast<uint32_t>(k), /*keep_slot=*/true);
    }
  }

  /// Infers a node of the root (and with it its bodies), and holds what the text states against it.
  Result<void> inferred(Graph& g, NodeId id, const Token& near) {
    Result<void> done = infer(g, id);
    bool all_stated = declared_.size() >= g.node(id).outputs.size();
    if (!done && !(done.error().code() == Code::not_supported && all_stated)) {
      Diagnostic d = *done.error();
      return fail(d.code, lexer_.place(near.at) + ": " + d.place, d.what).expected(d.expected).found(d.found).advice(d.advice);
    }
    for (Declared& stated : declared_) TRY(hold(stated));
    declared_.clear();
    return {};
  }

  /// The value gets the type that the text states, which must not contradict what was inferred.
  Result<void> hold(Declared& stated) {
    const Type& found = stated.graph->value(stated.value).type;
    if (!merge_types(stated.type, found))
      return fail(Code::bad_graph, lexer_.place(stated.at), "the type that the text states is not the type of the value")
          .expected(found.text())
          .found(stated.type.text());
    stated.graph->set_type(stated.value, std::move(stated.type));
    return {};
  }

  /// A line that pairs an input with an output, which is known at the end.
  struct StatedState {
    Token near;
    State state = {};
    ValueId new_value = {};
    std::optional<int64_t> output = {};
  };

  Lexer lexer_;
  std::unique_ptr<Graph> root_;
  ValueParser values_;
  const bool structure_only_;
  std::vector<StatedState> states_;
  std::vector<Declared> declared_;
  size_t value_count_ = 0;
};

Result<void> check_length(std::string_view text) {
  if (text.size() <= kMaxText) return {};
  return fail(Code::limit_exceeded, "text", "the text is too long").expected("at most 64 MiB").found(fmt::format("{} bytes", text.size()));
}

}  // namespace

Result<std::unique_ptr<Graph>> parse(std::string_view text, const OpTable& ops, const TextConstants* big) {
  TRY(check_length(text));
  return Parser(text, ops, big).run();
}

Result<std::unique_ptr<Graph>> parse_structure(std::string_view text, const OpTable& ops) {
  TRY(check_length(text));
  return Parser(text, ops, nullptr, /*structure_only=*/true).run();
}

}  // namespace tenon::ir
