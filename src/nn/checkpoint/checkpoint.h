// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>

#include "nn/families/family.h"
#include "nn/weights.h"

namespace tenon::nn {

/// A model that was read from a file or folder: its family, hyperparameters and weights.
struct Checkpoint {
  const Family* family = nullptr;
  Hyperparameters model = {};
  std::unique_ptr<Weights> weights = {};
};

/// Reads a folder of Hugging Face: config.json and model.safetensors, or its index and shards. Weights stay in
/// the mapped files.
/// Errors: file_missing, bad_file, bad_input (config.json), not_supported (an unknown family).
Result<Checkpoint> read_hugging_face(const std::filesystem::path& folder);

/// Reads a GGUF file. Weights stay in the mapped file, in their blocks, until they are decoded.
/// Errors: file_missing, bad_file, bad_input (metadata), not_supported (an unknown family or block format).
Result<Checkpoint> read_gguf_checkpoint(const std::filesystem::path& path);

}  // namespace tenon::nn
