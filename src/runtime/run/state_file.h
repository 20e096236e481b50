// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "runtime/engine.h"
#include "runtime/run/states.h"

namespace tenon::runtime {

/// The values of all states of a context and the identity of their engine, encoded as bytes.
Result<std::string> saved_states(const Engine& engine, States& states);
/// Sets all states to the values of saved_states(); changes nothing where it fails. Errors: as Context::restore_states.
Result<void> read_states(std::string_view bytes, const Engine& engine, States& states);

}  // namespace tenon::runtime
