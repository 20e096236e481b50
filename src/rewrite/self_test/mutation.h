// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "ir/op.h"

namespace tenon::rewrite {

class Equation;
struct InstanceSpec;

/// One deviation of a generated graph from the pattern, as in mutation testing: a rule must not match the mutant, or must rewrite it
/// correctly.
struct Mutation {
  enum class Kind : uint8_t {
    none,
    constant,        ///< another constant
    attribute,       ///< another attribute
    op,              ///< another op
    domain,          ///< the op of the same name in another domain
    result,          ///< another result of the op
    dtype,           ///< another dtype of all values, or of those of one name
    fewer_operands,  ///< one operand less
    more_operands,   ///< one operand more
    swapped,         ///< the two operands of an op that is not commutative are swapped
    variable,        ///< another value at a later mention of a name
    user,            ///< an inner value has a user outside of the match
    output           ///< an inner value is a graph output
  } kind = Kind::none;
  int term = -1;      ///< in Equation::terms; dtype: the variable, -1 for all
  size_t detail = 0;  ///< attribute: its index in the term; dtype: the number of the new dtype
  std::string text;   ///< for messages
};
std::string_view name_of(Mutation::Kind kind);

/// Every mutation that the graph of a spec can have.
std::vector<Mutation> mutations_of(const InstanceSpec& spec);

/// An op of the same name in another domain, with the type inference of `op` and without a reference function.
std::shared_ptr<const ir::Op> op_in_other_domain(const ir::Op& op);
/// An attribute of the same kind with another value.
ir::Attribute different_attribute(const ir::Attribute& attribute);

}  // namespace tenon::rewrite
