// SPDX-License-Identifier: Apache-2.0
#include "codegen/text/parse_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_numbers.h"
#include "codegen/analysis/plan_verify.h"
#include "codegen/text/plan_reader.h"

namespace tenon::codegen {

namespace {

using ir::Token;

constexpr size_t kMaxText = size_t{64} << 20;
constexpr int64_t kMostPadding = 1 << 30;  ///< elements
constexpr int64_t kMostCapacity = int64_t{1} << 45;

class PlanParser {
 public:
  PlanParser(std::string_view text, Symbols& symbols, const ir::TextConstants* constants)
      : reader_(text, symbols, constants), lexer_(reader_.lexer) {}

  Result<Plan> run() {
    TRY(lexer_.expect("plan", "a plan"));
    TRY(sizes());
    while (reader_.at_array()) TRY(array());
    TRY(shares());
    if (lexer_.take_if("inputs")) plan_.inputs = TRY(reader_.arrays(plan_, false));
    if (lexer_.take_if("outputs")) plan_.outputs = TRY(reader_.arrays(plan_, false));
    while (lexer_.take_if("state")) TRY(state());
    while (lexer_.take_if("limit")) plan_.index_limits.push_back(TRY(reader_.limit(plan_)));
    while (lexer_.take_if("assume")) TRY(assumption());
    while (lexer_.peek().kind != Token::Kind::end) plan_.groups.push_back(TRY(parse_group(reader_, plan_)));
    const PlanReport report = examine(plan_);
    if (report.wrong.empty()) return std::move(plan_);
    return fail(Code::bad_graph, "plan", "the text's plan is not sound").found(report.wrong[0]);
  }

 private:
  Result<void> sizes() {
    while (true) {
      if (lexer_.take_if("symbol")) {
        do TRY(reader_.values.symbol());
        while (lexer_.take_if(","));
      } else if (lexer_.take_if("sizes")) {
        TRY(reader_.values.sizes());
      } else {
        break;
      }
    }
    if (lexer_.take_if("given")) plan_.outer_symbols = TRY(reader_.symbol_list());
    if (lexer_.take_if("sums")) {
      TRY(lexer_.expect("in", "sums in order"));
      TRY(lexer_.expect("order", "sums in order"));
      plan_.sums_in_order = true;
    }
    if (lexer_.take_if("activations"))
      plan_.activations = static_cast<Activations>(TRY(reader_.one_of(kActivationNames, "a type of activations")));
    return {};
  }

  // --- arrays

  Result<void> array() {
    const Token name = lexer_.take();
    const size_t id = read_unsigned(name.text.substr(1)).value_or(UINT64_MAX);
    if (id < plan_.arrays.size() || id > lexer_.text().size() || name.text.substr(1) != fmt::format("{}", id))
      return lexer_.error(name, "arrays are not numbered in rising order")
          .expected(fmt::format("a number from {} on", plan_.arrays.size()));
    TRY(lexer_.expect(":", "an array"));
    plan_.arrays.resize(id + 1);
    reader_.declared.resize(id + 1);
    shared_.resize(id + 1);
    Array& a = plan_.arrays[id];
    a.dtype = TRY(dtype());
    a.shape = TRY(reader_.values.sizes());
    if (name.text[0] == 'v') a.value = ir::ValueId(static_cast<uint32_t>(id), 0);
    TRY(layout(a));
    if (lexer_.take_if("grows")) TRY(growing(a));
    if (lexer_.take_if("shares")) shared_[id] = lexer_.take();
    if (lexer_.take_if("in")) {
      TRY(lexer_.expect("units", "an array"));
      a.units = TRY(reader_.dim("the units of an array"));
    }
    a.fixed_layout = lexer_.take_if("fixed");
    if ((name.text[0] == 'c') != lexer_.peek().is("="))
      return lexer_.error(name, "an array of another kind").expected("c for constants, which have `=` and their elements");
    if (lexer_.take_if("=")) a.constant = TRY(reader_.values.constant(ir::Type(a.dtype, a.shape)));
    a.strides = strides_of(a);
    reader_.declared[id] = true;
    return {};
  }

  /// Reads an element type, or the word for a sequence, map or optional, which has no layout.
  Result<DType> dtype() {
    const Token word = lexer_.take();
    for (const DType container : {DType::none, DType::sequence, DType::optional, DType::map})
      if (word.is(name_of(container))) return container;
    const auto known = word.kind == Token::Kind::name ? dtype_named(word.text) : std::nullopt;
    if (known) return *known;
    return lexer_.error(word, "no dtype of an array").expected("f32, i64, bool, ...");
  }

  Result<void> layout(Array& a) {
    const size_t rank = a.shape.size();
    const Token start = lexer_.peek();
    if (lexer_.peek().is("in") && lexer_.peek(1).is("order")) {
      lexer_.take();
      lexer_.take();
      TRY(order(a));
    }
    if (lexer_.take_if("padded")) {
      TRY(lexer_.expect("by", "an array"));
      a.row_padding = TRY(reader_.integer("the padding of rows", 1, kMostPadding));
      if (rank == 0) return lexer_.error(start, "padding of an array without rows");
    }
    if (lexer_.take_if("within")) {
      a.halo.before = TRY(reader_.dotted("a halo", kMostPadding));
      TRY(lexer_.expect("and", "a halo"));
      a.halo.after = TRY(reader_.dotted("a halo", kMostPadding));
      if (a.halo.before.size() != rank || a.halo.after.size() != rank)
        return lexer_.error(start, "a halo of another rank").expected(fmt::format("{} sizes", rank));
      if (lexer_.take_if("of")) {
        TRY(lexer_.expect("zeros", "a halo"));
        a.halo.zeros = true;
      }
    }
    return {};
  }

  /// "1 to 4096"
  Result<void> growing(Array& a) {
    const int64_t rank = static_cast<int64_t>(a.shape.size());
    if (rank == 0) return lexer_.error(lexer_.peek(), "an array without axes does not grow");
    ir::GrowingAxis axis;
    axis.axis = static_cast<uint32_t>(TRY(reader_.integer("the axis that grows", 0, rank - 1)));
    TRY(lexer_.expect("to", "an array that grows"));
    axis.capacity = TRY(reader_.integer("a capacity", 1, kMostCapacity));
    a.growing = axis;
    return {};
  }

  /// "k input 0 output 1 in place"
  Result<void> state() {
    PlanState s;
    s.name = TRY(reader_.values.name("a state"));
    TRY(lexer_.expect("input", "a state"));
    const auto port = [&](const std::vector<ArrayId>& ports) {
      return reader_.integer("the number of a state's value", 0, static_cast<int64_t>(ports.size()) - 1);
    };
    s.input = static_cast<uint32_t>(TRY(port(plan_.inputs)));
    TRY(lexer_.expect("output", "a state"));
    s.output = static_cast<uint32_t>(TRY(port(plan_.outputs)));
    s.in_place = lexer_.take_if("in");
    if (s.in_place) TRY(lexer_.expect("place", "a state"));
    plan_.states.push_back(std::move(s));
    return {};
  }

  /// "0231", with points between the dimensions where there are more than ten.
  Result<void> order(Array& a) {
    const Token token = lexer_.peek();
    const size_t rank = a.shape.size();
    if (rank > 10) {
      for (int64_t d : TRY(reader_.dotted("a memory order", PlanReader::kMostAxes))) a.order.push_back(static_cast<int>(d));
    } else {
      for (char c : lexer_.take().text) a.order.push_back(c - '0');
    }
    std::vector<bool> seen(rank);
    for (int d : a.order)
      if (d >= 0 && d < static_cast<int>(rank)) seen[static_cast<size_t>(d)] = true;
    if (a.order.size() == rank && std::ranges::all_of(seen, [](bool b) { return b; })) return {};
    return lexer_.error(token, "a memory order that is no permutation").expected(fmt::format("each of {} dimensions once", rank));
  }

  /// Arrays may share the bytes of one that follows.
  Result<void> shares() {
    const size_t here = lexer_.peek().at;
    for (size_t id = 0; id < shared_.size(); ++id) {
      if (!shared_[id]) continue;
      lexer_.seek(shared_[id]->at);
      plan_.arrays[id].same_bytes = TRY(reader_.array(plan_));
    }
    lexer_.seek(here);
    for (size_t id = 0; id < shared_.size(); ++id)
      if (shared_[id] && is_circular(static_cast<ArrayId>(id))) return lexer_.error(*shared_[id], "an array that shares its own bytes");
    return {};
  }

  bool is_circular(ArrayId a) const {
    for (size_t steps = 0; a >= 0; a = plan_.arrays[static_cast<size_t>(a)].same_bytes)
      if (++steps > plan_.arrays.size()) return true;
    return false;
  }

  Result<void> assumption() {
    const Token near = lexer_.take();
    const auto kind = size_relation_named(near.text);
    const DimList sizes = TRY(reader_.values.sizes());
    if (!kind || sizes.size() != 2)
      return lexer_.error(near, "no assumption of two sizes").expected("equal, broadcast, at_least or spreads [a, b]");
    std::string where = TRY(reader_.values.name("a place")), what = TRY(reader_.values.name("what is wrong"));
    plan_.assumptions.push_back({*kind, sizes[0], sizes[1], std::move(where), std::move(what)});
    return {};
  }

  PlanReader reader_;
  ir::Lexer& lexer_;
  Plan plan_;
  std::vector<std::optional<Token>> shared_;  ///< by array: the name of the one whose bytes it shares
};

}  // namespace

Result<Plan> parse_plan(std::string_view text, Symbols& symbols, const ir::TextConstants* constants) {
  if (text.size() > kMaxText)
    return fail(Code::limit_exceeded, "plan", "the text is too long").expected(fmt::format("at most {} bytes", kMaxText));
  return PlanParser(text, symbols, constants).run();
}

}  // namespace tenon::codegen
