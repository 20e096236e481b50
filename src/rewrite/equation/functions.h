// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "rewrite/equation/term_value.h"
#include "rewrite/match.h"

namespace tenon::rewrite {

/// A function that conditions, attributes and constants of equations may call. A condition whose value is not known (nullopt) does not
/// hold, and its negation does not either.
struct Function {
  std::string_view name;
  std::string_view usage;            ///< "dim(?x, axis)"
  std::string_view docs;             ///< one line
  int min_arguments, max_arguments;  ///< bounds of the number of arguments
  Answer (*call)(const Match& match, std::span<const TermValue> arguments);
};
/// All built-in functions, predicates first.
std::span<const Function> functions();
/// The built-in function of that name; null where there is none.
const Function* find_function(std::string_view name);

/// A function that the caller of the parser provides; it may call another language.
struct CustomFunction {
  std::string name;
  int min_arguments = 1, max_arguments = 1;
  std::function<Answer(const Match&, std::span<const TermValue>)> call;
};

/// Element-wise arithmetic on numbers, sizes, lists of integers and constants (values or tensors of equal dtype, broadcast, up to 64 KiB;
/// computed in f64 or exactly in integers, rounded once).
enum class Arithmetic : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power, minimum, maximum };
/// nullopt where it is not defined for such operands.
Answer calculate(Arithmetic op, const TermValue& a, const TermValue& b, const Match& match);
/// The same for a function of one operand.
Answer calculate(double (*function)(double), const TermValue& a, const Match& match);

}  // namespace tenon::rewrite
