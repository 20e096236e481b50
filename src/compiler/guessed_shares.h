// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "backend/backend.h"
#include "program/build.h"

namespace tenon::compiler {

/// Of each backend the part of a run's time that its nodes take, by the guesses of the backends (Backend::cost); each body of a branch or
/// loop counts once. Empty where one backend runs all.
std::map<std::string, double> guessed_shares(const program::LoweredGraph& lowered, const backend::Backends& backends);

}  // namespace tenon::compiler
