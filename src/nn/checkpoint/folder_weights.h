// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "nn/families/family.h"

namespace tenon::nn {

/// GGUF's name of a weight ("blk.0.attn_q.weight") from that in a folder of Hugging Face ("model.layers.0.self_attn.q_proj.weight"); the
/// same where the family has none for it.
std::string gguf_name(std::string_view folder_name, const Family& family);
/// The reverse; the same where the family has none for it.
std::string folder_name(std::string_view gguf_name, const Family& family);

/// A weight of a folder of Hugging Face under GGUF's name, in GGUF's layout, except that rows of q and k keep their order
/// (Family::pairs_rows_in_gguf). Errors: bad_input, out_of_memory.
Result<ir::ConstantRef> gguf_weight(const std::string& name, const Tensor& tensor, const Family& family, const Hyperparameters& model);

}  // namespace tenon::nn
