// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "llm/template/syntax/syntax.h"

namespace tenon::llm::jinja {

/// The variables of a block: a loop's iteration, a macro's call, ... Names that it lacks are looked up in the block around it.
class Scope {
 public:
  explicit Scope(std::shared_ptr<Scope> parent = nullptr) : parent_(std::move(parent)) {}

  /// nullptr where no scope has the name.
  const Value* find(NameIndex name) const {
    for (const Scope* scope = this; scope; scope = scope->parent_.get())
      for (const auto& [key, value] : scope->variables_)
        if (key == name) return &value;
    return nullptr;
  }
  void set(NameIndex name, Value value) {
    for (auto& [key, old] : variables_) {
      if (key != name) continue;
      old = std::move(value);
      return;
    }
    variables_.emplace_back(name, std::move(value));
  }
  void clear() { variables_.clear(); }

 private:
  std::shared_ptr<Scope> parent_;
  std::vector<std::pair<NameIndex, Value>> variables_;
};
using ScopePtr = std::shared_ptr<Scope>;

}  // namespace tenon::llm::jinja
