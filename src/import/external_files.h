// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace tenon::import {

/// The files of external data that an ONNX model names, in bodies, functions and attributes too: sorted, each once, below `folder` (empty:
/// the model's own). No tensor is read, and the files need not exist. Errors: file_missing and those of parse_onnx.
/// Cost: linear in the model's nodes and tensors.
Result<std::vector<std::filesystem::path>> external_files(const std::filesystem::path& model, const std::filesystem::path& folder = {});

}  // namespace tenon::import
