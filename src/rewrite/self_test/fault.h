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

/// One thing that is other than the pattern says.
struct Fault {
  enum class Kind : uint8_t {
    none,
    constant,
    attribute,
    op,
    domain,  ///< an op of the same name, of another domain
    result,  ///< another result of the op
    dtype,   ///< of everything, or of what one name stands for
    fewer_operands,
    more_operands,
    swapped,   ///< two operands of an op that is not commutative
    variable,  ///< another value at a later mention of a name
    user,      ///< a value inside has a user outside
    output     ///< a value inside is a graph output
  } kind = Kind::none;
  int term = -1;    ///< dtype: the variable, -1 for all
  size_t part = 0;  ///< attribute: which one; dtype: which one
  std::string text;
};
std::string_view name_of(Fault::Kind kind);

/// Every single fault that can be put into the graph of a spec.
std::vector<Fault> faults_of(const InstanceSpec& spec);

/// The same op in an unknown domain: it infers what `op` infers, and has no meaning.
std::shared_ptr<const ir::Op> of_another_domain(const ir::Op& op);
/// Another attribute of the same kind.
ir::Attribute another(const ir::Attribute& attribute);

}  // namespace tenon::rewrite
