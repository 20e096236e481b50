// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "compiler/compile.h"

namespace tenon::compiler {

/// Reads "x86_avx2", for the host backend, and "BACKEND=TARGET", for that backend, into the options, whose registry and backends are set.
/// Errors: bad_usage for a target or backend that there is not, a backend that generates no code, and two targets of one backend.
Result<void> read_targets(std::span<const std::string> texts, CompileOptions& options);

}  // namespace tenon::compiler
