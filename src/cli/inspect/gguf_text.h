// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/console/console.h"

namespace tenon::cli {

/// Prints a GGUF checkpoint: architecture, sizes, tokenizer, tensors by type, metadata (of long arrays and texts the beginning).
/// Errors: those of files::read_gguf.
Result<void> inspect_gguf(const std::string& path, Console& console);

}  // namespace tenon::cli
