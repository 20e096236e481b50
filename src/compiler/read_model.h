// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "compiler/options/checkpoint_options.h"
#include "import/onnx_import.h"

namespace tenon::compiler {

/// Reads a model of any kind that Tenon compiles: an ONNX file; a GGUF file or a Hugging Face folder, whose decoder becomes a graph with
/// states (nn::make_decoder); a folder with an ONNX decoder (onnx_decoder_in), which is read as with `--state auto`. Errors: those of
/// import_onnx, nn::read_gguf_checkpoint, nn::read_hugging_face, nn::merge_adapters, nn::store_weights and nn::check_token_ids;
/// bad_usage where an option has no meaning for that kind of model.
Result<import::Imported> read_model(const std::filesystem::path& path, const import::ImportOptions& options,
                                    const CheckpointOptions& of_checkpoint = {});

/// Checks the options for a checkpoint. Errors: bad_usage where they name inputs, outputs or weights of an ONNX model, which a checkpoint
/// does not have.
Result<void> check_onnx_options(const std::filesystem::path& path, const import::ImportOptions& options);

}  // namespace tenon::compiler
