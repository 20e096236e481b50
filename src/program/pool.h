// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <unordered_map>

#include "program/build.h"

namespace tenon::program {

/// What the programs of one engine share: code and weights, each once.
class Pool {
 public:
  explicit Pool(Built& out) : out_(out) {}

  /// The number of this code; equal code is generated once: what differs between layers are buffers and sizes.
  uint32_t code(codegen::TileKernel kernel, std::string tactic);
  /// Where the constant's bytes are: 64-byte aligned, followed by bytes that a kernel may read. Large constants that are made of
  /// one tensor by the same steps (a weight that several products pack) stand there once. looked_up: by this reader.
  uint64_t place(const ir::ConstantRef& constant, bool looked_up = false);
  /// From now on a constant that has the bytes of one that is placed has its place too.
  void share_equal_weights();
  void note_op(const std::string& backend, const std::string& op) { out_.ops_of_devices.emplace_back(backend, op); }
  uint64_t weight_bytes() const { return weight_bytes_; }

 private:
  /// Its number in Built::weights.
  size_t number_of(const ir::ConstantRef& constant);

  Built& out_;
  std::unordered_map<const ir::Constant*, size_t> numbers_;
  std::unordered_map<std::string, uint32_t> code_;
  using Shape = std::pair<DType, Sizes>;
  std::map<Shape, std::vector<size_t>> placed_;  ///< those that are compared with new ones
  bool shares_equal_ = false;
  uint64_t weight_bytes_ = 0;
};

}  // namespace tenon::program
