// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "program/build.h"

namespace tenon::program {

/// Code and weights of one engine. Its programs share them, so that equal ones are stored once.
class Pool {
 public:
  explicit Pool(LinkedPrograms& out) : out_(out) {}

  /// Adds the kernel and returns its number. Kernels of equal code (the layers of a model) have one number.
  uint32_t code(codegen::TileKernel kernel, std::string tactic);
  /// The offset of the constant's bytes, 64-byte aligned; at least kSlack readable bytes follow them. Large constants that are computed
  /// from one tensor in the same way (a weight that several products pack) have one offset. is_lookup_table: its reader uses it as one.
  uint64_t place(const ir::ConstantRef& constant, bool is_lookup_table = false);
  /// From now on, `place` returns the offset of an equal constant that was placed earlier, also for small constants.
  void share_equal_weights();
  void add_device_op(const std::string& backend, const std::string& op) { out_.device_ops.emplace_back(backend, op); }
  uint64_t weight_bytes() const { return weight_bytes_; }

 private:
  /// Its number in LinkedPrograms::weights.
  size_t number_of(const ir::ConstantRef& constant);

  LinkedPrograms& out_;
  std::unordered_map<const ir::Constant*, size_t> numbers_;  ///< of constants, in LinkedPrograms::weights
  std::map<Hash128, uint32_t> code_;                         ///< numbers of kernels, by their fingerprints
  using Shape = std::pair<DType, Sizes>;
  std::map<Shape, std::vector<size_t>> placed_;  ///< numbers in LinkedPrograms::weights that new constants are compared with
  bool shares_equal_ = false;
  uint64_t weight_bytes_ = 0;
};

}  // namespace tenon::program
