// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// The number of a task, taken apart from its last digit on.
class TaskNumber {
 public:
  TaskNumber(AttentionCode& code, Reg task) : code_(code), rest_(task) {}

  /// The digit that counts to `n`.
  Reg take(Dim n) {
    const Reg size = code_.emit.dim(n), digit = code_.build().expr(ExprOp::rem, {rest_, size});
    rest_ = code_.build().expr(ExprOp::div, {rest_, size});
    return digit;
  }
  Reg rest() const { return rest_; }

 private:
  AttentionCode& code_;
  Reg rest_;
};

/// Whether all keys beyond the bounds that the query's position sets have a weight of 0, whatever the others are.
bool skips_hidden_keys(const AttentionCode& code);
/// The range of keys which that query reads: those that it sees, where others have a weight of 0.
std::pair<Reg, Reg> visible_to(AttentionCode& code, Reg query, const AttentionPoint& head);

}  // namespace tenon::codegen
