// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "backend/backend.h"
#include "program/build.h"

namespace tenon::compiler {

/// For each backend the estimated fraction of a run's time that its nodes take, from Backend::cost of its nodes; each body of a branch or
/// loop counts once. Empty where one backend runs all nodes.
std::map<std::string, double> guessed_shares(const program::LoweredGraph& lowered, const backend::Backends& backends);

}  // namespace tenon::compiler
