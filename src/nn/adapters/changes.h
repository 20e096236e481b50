// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nn/checkpoint/checkpoint.h"

namespace tenon::nn {

/// The lengths (2-norms) that rows (axis 0) or columns (axis 1) of a changed matrix get (DoRA, https://arxiv.org/abs/2402.09353).
struct Magnitudes {
  ir::ConstantRef values;  ///< floats, one for each row or column
  int axis;
};

/// What an adapter does to one weight of a checkpoint. The constants are of the weight's shape, in the checkpoint's layout.
struct Change {
  ir::ConstantRef base = nullptr;                       ///< f32, in place of the weight; null: the weight stays
  ir::ConstantRef added = nullptr;                      ///< f32, added to it; null: nothing is
  std::optional<Magnitudes> magnitudes = std::nullopt;  ///< the sum is scaled to them
};
using Changes = std::map<std::string, Change, std::less<>>;

/// The weight (f32, two axes), each row or column scaled to its length: the norms are summed in fp64 at once, the elements are lazy.
/// Vectors of zeros stay. Cost: the weight is computed once, in memory of its size. Errors: out_of_memory.
Result<ir::ConstantRef> scaled_to(ir::ConstantRef weight, const Magnitudes& magnitudes);

/// factor * left [m, r] times right [n, r] transposed, f32 [m, n], lazy. Both of floats. Errors: out_of_memory.
Result<ir::ConstantRef> low_rank(ir::ConstantRef left, ir::ConstantRef right, double factor);

/// Collects the changes of one adapter, and what is wrong with them: finish() reports all in one error.
class ChangeCollector {
 public:
  /// The order of the rows of q and k (Family::neighbors_in_gguf), and whose names an adapter has: Hugging Face's folders or GGUF.
  enum class Layout : uint8_t { folder, gguf };

  /// place: of errors. The checkpoint outlives this.
  ChangeCollector(const Checkpoint& checkpoint, Layout layout, std::string place);

  bool has(const std::string& name) const { return shape_of(name).has_value(); }
  /// change: in the adapter's layout, with a base or with `added`, of any float type; one of each may be given for a weight.
  /// name: GGUF's, of a weight. given_name: as the adapter has it.
  void add(const std::string& name, Change change, const std::string& given_name);
  /// A tensor that Tenon has no meaning for.
  void add_unknown(std::string given_name) { unknown_.push_back(std::move(given_name)); }
  void add_half(std::string given_name) { halves_.push_back(std::move(given_name)); }
  /// Matrices and a magnitude of which some are missing, or are not what the configuration names.
  void add_unscaled(std::string given_name) { unscaled_.push_back(std::move(given_name)); }
  /// Errors: bad_input.
  Result<Changes> finish();

 private:
  std::optional<Sizes> shape_of(const std::string& name) const;
  ir::ConstantRef in_layout_of_checkpoint(const std::string& name, ir::ConstantRef value) const;

  const Checkpoint& checkpoint_;
  const Layout from_, to_;
  const std::string place_;
  Changes changes_;
  std::vector<std::string> unmatched_, wrong_, twice_, unknown_, halves_, unscaled_;
};

/// Errors: those of merge_adapters.
Result<Changes> read_peft_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint);
Result<Changes> read_gguf_adapter(const std::filesystem::path& path, double scale, const Checkpoint& checkpoint);

}  // namespace tenon::nn
