// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/expr/text.h"
#include "codegen/plan/plan.h"
#include "ir/lexer.h"
#include "ir/parse_values.h"

namespace tenon::codegen {

/// Reads the elements of a plan's text: words, numbers, sizes, expressions, names of arrays. what: names the element, for errors.
class PlanReader {
 public:
  static constexpr size_t kMostAxes = 64;

  PlanReader(std::string_view text, Symbols& symbols, const ir::TextConstants* constants)
      : lexer(text), values(lexer, symbols, constants), symbols_(symbols) {}

  /// A whole number in [low, high].
  Result<int64_t> integer(std::string_view what, int64_t low, int64_t high);
  Result<double> number(std::string_view what);
  /// Whole numbers with points between them: "0.4.2".
  Result<Sizes> dotted(std::string_view what, int64_t high);
  /// "64", "n", "[2*n + 1]"
  Result<Dim> dim(std::string_view what);
  /// "[n, m]"
  Result<std::vector<const DimNode*>> symbol_list();
  Result<Expr> expr(const ExprTypes& types);
  /// Whether a name such as v3 comes next.
  bool at_array();
  /// The array of a name; it must be declared.
  Result<ArrayId> array(const Plan& plan);
  /// "v0, _, t3"; a blank is -1.
  Result<std::vector<ArrayId>> arrays(const Plan& plan, bool with_blanks);
  /// "v3 below [50] from end"
  Result<IndexLimit> limit(const Plan& plan);
  /// The index in `words` of the next word.
  Result<size_t> one_of(std::span<const std::string_view> words, std::string_view what);

  ir::Lexer lexer;
  ir::ValueParser values;
  std::vector<bool> declared;  ///< by array: whether it was declared

 private:
  Symbols& symbols_;
};

/// Reads the nest that starts with `for`, and checks that its accesses and expressions refer to declared arrays, axes and accesses.
Result<Nest> parse_nest(PlanReader& reader, const Plan& plan);
/// Reads the group whose word comes next, with all its lines, and computes the roles of a contraction.
Result<Group> parse_group(PlanReader& reader, Plan& plan);

}  // namespace tenon::codegen
