// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Splits the number of a task into its components (digits of a mixed radix), the fastest running first.
class TaskNumber {
 public:
  TaskNumber(AttentionCode& code, Reg task) : code_(code), rest_(task) {}

  /// The next component, which is below `n`.
  Reg take(Dim n) {
    const Reg size = code_.emit.dim(n), digit = code_.build().expr(ExprOp::rem, {rest_, size});
    rest_ = code_.build().expr(ExprOp::div, {rest_, size});
    return digit;
  }
  /// The remaining number: the last component.
  Reg rest() const { return rest_; }

 private:
  AttentionCode& code_;
  Reg rest_;
};

/// Whether keys that are hidden by their position have a weight of 0 in any case (their score is -inf).
bool skips_hidden_keys(const AttentionCode& code);
/// The range [first, second) of the keys that a query reads: the visible ones where hidden ones have a weight of 0, else all.
std::pair<Reg, Reg> read_key_range(AttentionCode& code, Reg query, const AttentionPoint& head);

}  // namespace tenon::codegen
