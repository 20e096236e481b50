// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// Arguments by parameter; absent where none was passed.
using Bound = std::array<Value, 6>;

/// A filter, a test or a method of a type.
struct Builtin {
  using Apply = Result<Value> (*)(RenderState&, const Value& self, Bound& arguments);
  using ApplyRaw = Result<Value> (*)(RenderState&, const Value& self, Arguments& arguments);

  std::string_view name;
  std::string_view parameters;  ///< names in order; those after '?' may be left out
  Apply apply = nullptr;
  ApplyRaw apply_raw = nullptr;  ///< in place of `apply`: takes any arguments

  Result<Value> operator()(RenderState& state, const Value& self, Arguments& arguments) const;
};

/// Assigns the arguments of a call to parameters (see Builtin::parameters). Errors: too many, missing, unknown and doubled ones.
Result<Bound> bind(std::string_view callee, std::string_view parameters, Arguments& arguments);

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name);

/// An argument as an int, `otherwise` where it is absent or none. Errors: other types.
Result<int64_t> integer_argument(const Value& value, int64_t otherwise, std::string_view name);
/// An argument as a text.
Result<std::string> text_argument(const Value& value, std::string_view name);
/// An argument as a bool, `otherwise` where it is absent.
bool flag_argument(const Value& value, bool otherwise);

Value function(std::string name, std::string type, std::function<Result<Value>(RenderState&, Arguments)> call);

/// The steps (Limits::steps) that searching or copying a text of this size counts.
inline uint64_t steps_of(size_t bytes) { return 1 + bytes / 64; }

}  // namespace tenon::llm::jinja
