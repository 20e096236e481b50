// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

namespace tenon_python {

/// The engine file of a language model: the file itself where it is one, else that of the checkpoint in the user's cache, built without the
/// GIL where it is not there yet. Raises TenonError: bad_usage for a context of an engine; those of compiler::cached_engine.
std::filesystem::path engine_file(const std::filesystem::path& model, int64_t context);

}  // namespace tenon_python
