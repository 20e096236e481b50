// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {

/// A file of low-rank changes of weights (LoRA, https://arxiv.org/abs/2106.09685; DoRA, https://arxiv.org/abs/2402.09353), and a factor for
/// them.
struct AdapterFile {
  std::filesystem::path path;
  double scale = 1;
};

/// Changes the weights of a checkpoint, one adapter after the other: W becomes W + scale * alpha / r * B * A; with use_rslora it is
/// alpha / sqrt(r). B * A is summed in fp64 and rounded to f32 before it is added; the result is a lazy constant, so that one matrix at
/// a time is in memory when an engine is written. With magnitudes m (DoRA) it is m * V / |V|, V = W + scale * alpha / r * B * A, |V| the
/// 2-norms of V's rows, of columns in embeddings: as PEFT's set_scale and merge_and_unload do. Biases, norms and other weights that an
/// adapter has whole (modules_to_save) replace those of the checkpoint, whatever the scale is. An embedding that is the output's table too
/// is stored separately from it where an adapter changes one of them.
///
/// Read are adapters of PEFT (a folder with adapter_config.json and adapter_model.safetensors, or a .safetensors file with that config
/// beside it; https://huggingface.co/docs/peft, peft/tuners/lora) and of GGUF (general.type `adapter`, adapter.type `lora`;
/// llama.cpp's src/llama-adapter.cpp), each for checkpoints of either kind.
///
/// Returns warnings. Errors: file_missing, bad_file, bad_input (an adapter of another architecture; all tensors that match no weight,
/// or one of another size), not_supported (other kinds).
Result<std::vector<std::string>> merge_adapters(std::span<const AdapterFile> adapters, Checkpoint& checkpoint);

}  // namespace tenon::nn
