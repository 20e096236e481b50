// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {

/// The 2-norms to which the rows (axis 0) or columns (axis 1) of an updated matrix are scaled (DoRA, https://arxiv.org/abs/2402.09353).
struct Magnitudes {
  ir::ConstantRef values;  ///< floats, one for each row or column
  int axis;                ///< 0: a value for each row; 1: for each column
};

/// What an adapter does to one weight of a checkpoint. The constants are of the weight's shape, in the checkpoint's layout.
struct WeightUpdate {
  ir::ConstantRef replacement = nullptr;                ///< f32, used in place of the weight; null: the checkpoint's weight
  ir::ConstantRef delta = nullptr;                      ///< f32, added to the weight or its replacement (B * A of LoRA); null: none
  std::optional<Magnitudes> magnitudes = std::nullopt;  ///< the 2-norms to which the sum's rows or columns are scaled
};
using WeightUpdates = std::map<std::string, WeightUpdate, std::less<>>;

/// The weight (f32, two axes), each row or column scaled to the 2-norm in `magnitudes`: the present norms are summed in fp64 at once, the
/// elements are lazy. Vectors of zeros stay. Cost: the weight is computed once, in memory of its size. Errors: out_of_memory.
Result<ir::ConstantRef> rescaled(ir::ConstantRef weight, const Magnitudes& magnitudes);

/// factor * left [m, r] times right [n, r] transposed, f32 [m, n], lazy. Both of floats. Errors: out_of_memory.
Result<ir::ConstantRef> low_rank_product(ir::ConstantRef left, ir::ConstantRef right, double factor);

/// Collects the updates of one adapter and its invalid tensors; finish() reports all of these in one error.
class UpdateCollector {
 public:
  /// The format whose tensor names and row order of q and k (Family::pairs_rows_in_gguf) are used: a Hugging Face folder or GGUF.
  enum class Layout : uint8_t { folder, gguf };

  /// layout: of the adapter. place: the adapter's path, for errors. The checkpoint outlives this object.
  UpdateCollector(const Checkpoint& checkpoint, Layout layout, std::string place);

  bool has(const std::string& name) const { return shape_of(name).has_value(); }
  /// Adds an update of a weight. name: of the weight in GGUF. update: in the adapter's layout, of any float type, with either a replacement
  /// or a delta; two calls may give both for one weight. name_in_adapter: the tensor's name in the adapter's file, for errors.
  void add(const std::string& name, WeightUpdate update, const std::string& name_in_adapter);
  /// Reports a tensor whose name has no known meaning.
  void add_unknown(std::string name_in_adapter) { unknown_.push_back(std::move(name_in_adapter)); }
  /// Reports one matrix of a LoRA pair whose other matrix is missing or of another rank.
  void add_unpaired(std::string name_in_adapter) { unpaired_.push_back(std::move(name_in_adapter)); }
  /// Reports a module that has only some of use_dora, lora_A, lora_B and lora_magnitude_vector.
  void add_incomplete_dora(std::string name_in_adapter) { incomplete_dora_.push_back(std::move(name_in_adapter)); }
  /// Errors: bad_input.
  Result<WeightUpdates> finish();

 private:
  std::optional<Sizes> shape_of(const std::string& name) const;
  ir::ConstantRef in_layout_of_checkpoint(const std::string& name, ir::ConstantRef value) const;

  const Checkpoint& checkpoint_;
  const Layout adapter_layout_, checkpoint_layout_;
  const std::string place_;  ///< path of the adapter, for errors
  WeightUpdates updates_;
  /// Invalid tensors by kind of error, as finish() lists them.
  std::vector<std::string> unmatched_, wrong_shapes_, duplicates_, unknown_, unpaired_, incomplete_dora_;
};

/// Errors: those of merge_adapters.
Result<WeightUpdates> read_peft_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint);
Result<WeightUpdates> read_gguf_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint);

}  // namespace tenon::nn
