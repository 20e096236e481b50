// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/token_history.h"

namespace tenon::llm {

TokenHistory::TokenHistory(size_t vocabulary) : marks_(vocabulary, 0) { tokens_.reserve(vocabulary); }

uint32_t* TokenHistory::mark(int32_t token) {
  if (token < 0 || static_cast<size_t>(token) >= marks_.size()) return nullptr;
  uint32_t& mark = marks_[static_cast<size_t>(token)];
  if ((mark & 1) == 0) tokens_.push_back(token);
  mark |= 1;
  return &mark;
}

void TokenHistory::add_prompt(std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) mark(token);
}

void TokenHistory::add(int32_t token) {
  if (uint32_t* found = mark(token)) *found += 2;
}

void TokenHistory::clear() {
  for (const int32_t token : tokens_) marks_[static_cast<size_t>(token)] = 0;
  tokens_.clear();
}

}  // namespace tenon::llm
