// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"
#include "compiler/options/code_options.h"
#include "runtime/libraries.h"

namespace tenon::compiler {

/// The options on which the code of an engine depends, where they differ from the defaults: an object of values by name of the option. The
/// manifest of an engine file contains it, and a portable engine is compiled with it where it is loaded. `libraries`: those that the
/// user named.
nlohmann::ordered_json saved_options(const CodeOptions& options, const runtime::Libraries& libraries);

/// Reads what saved_options() returned into options that have their defaults. place: that of errors. Errors: wrong_target for an option or
/// an enumerator that this version lacks, bad_file for a value of another type or out of bounds.
Result<void> read_options(const nlohmann::json& saved, std::string_view place, CodeOptions& options, runtime::Libraries& libraries);

/// Errors: not_supported for pins, fallback_ops and fallback_modules, which name nodes, ops and modules of the model: the graph of a
/// portable engine is the rewritten one, which may lack them.
Result<void> check_portable(const CodeOptions& options);

}  // namespace tenon::compiler
