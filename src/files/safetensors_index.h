// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "files/safetensors.h"

namespace tenon::files {

/// The safetensors of one checkpoint, from one file or from several.
struct SafeTensorsCheckpoint {
  SafeTensorsCheckpoint() = default;
  SafeTensorsCheckpoint(SafeTensorsCheckpoint&&) = default;  // not copied: tensor_index points into `shards`
  SafeTensorsCheckpoint& operator=(SafeTensorsCheckpoint&&) = default;

  std::vector<SafeTensors> shards;
  std::vector<std::filesystem::path> files;  ///< of the shards

  /// The tensor of that name; nullptr where there is none. Cost: constant.
  const Tensor* find(std::string_view name) const;
  /// All tensors, in the order of the files and of their offsets.
  std::vector<const SafeTensors::Entry*> entries() const;

  std::unordered_map<std::string_view, const Tensor*> tensor_index;  ///< by name; the reading functions fill it
};

/// Reads NAME.safetensors.index.json, Hugging Face's list of which shard beside it holds which tensor, and all shards. Shards may be links,
/// as Hugging Face's cache has them, but lie in the index's folder by name. Errors: one bad_file that names all missing and left-over
/// shards (NAME-*-of-*.safetensors beside the index) and tensors; file_missing, file_unsafe (a name with a folder in it), limit_exceeded
/// (an index over 100 MB); those of read_safetensors.
Result<SafeTensorsCheckpoint> read_safetensors_index(const std::filesystem::path& index);

/// Reads a folder's model.safetensors, or model.safetensors.index.json with its shards. Errors: as above; file_missing where it has
/// neither, bad_file where it has both.
Result<SafeTensorsCheckpoint> read_safetensors_folder(const std::filesystem::path& folder);

}  // namespace tenon::files
