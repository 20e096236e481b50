// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace tenon::import {

/// How a graph is written as an ONNX model.
struct ExportOptions {
  /// Exactly this opset; nullopt: the lowest that can express every node (fused ops as functions), not below the source's.
  std::optional<int64_t> opset;
  /// Without `opset`: where an opset up to this one has a fused op, that opset is written instead of a function.
  int64_t raise_to = 0;
  /// Weights of 1 KiB and more go to a file beside the model (NAME.data); also where the model would exceed `inline_limit` bytes.
  bool external_data = false;
  int64_t inline_limit = int64_t{1536} << 20;
  /// Write the types of intermediate values, for viewers.
  bool value_info = true;
};

/// What export_onnx() wrote.
struct Exported {
  int64_t opset = 0;           ///< of the default domain
  int64_t external_bytes = 0;  ///< in the data file; 0: there is none
};

/// Writes a graph as an ONNX model. Fused ops that the opset lacks become functions of the model, made from their definitions
/// (ops of the domain com.microsoft are left to the runtime that has them);
/// captures of bodies become references to outer names; constants are streamed, one at a time. The graph is not changed.
/// The file (and its data file, which is written first) is written atomically.
/// Errors: not_supported (a node that the opset cannot express), write_failed, out_of_memory.
Result<Exported> export_onnx(const ir::Graph& graph, const std::filesystem::path& path, const ExportOptions& options = {});
/// Writes the model, with all weights inside, to the memory that `allocate` returns for its size in bytes (null: out_of_memory).
/// Errors: as above; limit_exceeded beyond inline_limit.
Result<void> export_onnx_into(const ir::Graph& graph, const std::function<char*(size_t)>& allocate, const ExportOptions& options = {});
/// The model's bytes, with all weights inside. Errors: as above.
Result<std::string> export_onnx_bytes(const ir::Graph& graph, const ExportOptions& options = {});

}  // namespace tenon::import
