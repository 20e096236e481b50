// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "rewrite/equation/term_value.h"
#include "rewrite/match.h"

namespace tenon::rewrite {

/// A function that conditions, attributes and constants of equations may call. No answer makes a condition fail, negated or not.
struct Function {
  std::string_view name;
  std::string_view usage;  ///< "dim(?x, axis)"
  std::string_view docs;   ///< one line
  int least, most;         ///< arguments
  Answer (*call)(const Match& match, std::span<const TermValue> arguments);
};
/// All of them, predicates first.
std::span<const Function> functions();
const Function* find_function(std::string_view name);

/// A function that the caller of the parser adds, also from another language.
struct NamedFunction {
  std::string name;
  int least = 1, most = 1;  ///< arguments
  std::function<Answer(const Match&, std::span<const TermValue>)> call;
};

/// Element-wise arithmetic on numbers, sizes, lists of integers and constants (values or tensors of equal dtype, broadcast, up to 64 KiB;
/// computed in f64 or exactly in integers, rounded once).
enum class Arithmetic : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power, minimum, maximum };
Answer calculate(Arithmetic how, const TermValue& a, const TermValue& b, const Match& match);
Answer calculate(double (*how)(double), const TermValue& a, const Match& match);

}  // namespace tenon::rewrite
