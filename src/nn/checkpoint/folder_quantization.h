// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "files/safetensors_index.h"
#include "ir/constant.h"

namespace tenon::nn {

/// How a folder of Hugging Face stores the matrices of its layers: `quantization_config` of config.json.
struct FolderQuantization {
  enum class Method : uint8_t { none, awq, gptq };
  Method method = Method::none;
  int bits = 4;
  int64_t group = 128;           ///< inputs that share a scale; -1: all
  bool zeros_minus_one = false;  ///< zero points are stored minus one: the first format of GPTQ
};

/// Errors: not_supported, with the field, where it is another method than AWQ (version gemm, 4 bits) and GPTQ (4 or 8 bits).
Result<FolderQuantization> folder_quantization(const nlohmann::json& config, const std::string& place);

/// The name before ".qweight", ".qzeros", ".scales" or ".g_idx" where NAME.qweight is in the checkpoint; else nullopt.
std::optional<std::string_view> quantized_stem(const files::SafeTensorsCheckpoint& checkpoint, std::string_view name);

/// A matrix [outputs, inputs], as a constant in blocks. Columns of one group are side by side.
struct QuantizedWeight {
  ir::ConstantRef weight;
  std::vector<int64_t> input_order = {};  ///< see Weights::input_order
};
/// Of NAME.qweight, NAME.qzeros, NAME.scales and NAME.g_idx. Source of the layouts: AutoAWQ,
/// awq/modules/linear/gemm.py (WQLinear_GEMM.from_linear); AutoGPTQ, auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py (QuantLinear.pack);
/// GPTQModel, gptqmodel/utils/model.py (convert_gptq_v1_to_v2_format_module). Cost: some passes over the codes, in memory of a byte a code.
/// Errors: bad_input (tensors that are missing or of other types or sizes, groups of unequal sizes), not_supported (small groups).
Result<QuantizedWeight> quantized_weight(const files::SafeTensorsCheckpoint& checkpoint, std::string_view stem,
                                         const FolderQuantization& how);

}  // namespace tenon::nn
