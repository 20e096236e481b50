// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <deque>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "ir/constant.h"

namespace tenon::compiler {

/// Materialises constants one after the other. While the caller uses the bytes of one, other threads compute the next ones. Memory: that of
/// the one in use and the next one, and up to kBytesAhead of those that follow.
class ConstantStream {
 public:
  explicit ConstantStream(std::vector<ir::ConstantRef> constants);
  ConstantStream(const ConstantStream&) = delete;
  ConstantStream& operator=(const ConstantStream&) = delete;

  /// The bytes of the next constant, until the next call. As many calls as there are constants. Errors: out_of_memory; those of
  /// ir::materialise_into.
  Result<std::span<const std::byte>> next();

 private:
  static constexpr int64_t kBytesAhead = int64_t{48} << 20;
  static constexpr size_t kMostAhead = 8;

  /// Frees memory that malloc() gave.
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Item {
    std::unique_ptr<std::byte, Free> memory = {};
    int64_t size = 0;  ///< bytes
    /// Last member: destroyed before the memory that its thread writes to.
    std::future<Result<std::span<const std::byte>>> bytes = {};
  };
  /// The bytes of a constant: its own where it is plain, else computed into memory of the item.
  static Result<std::span<const std::byte>> bytes_of(const ir::Constant& constant, Item& item);
  /// Starts threads that compute the next constants.
  void begin();

  const std::vector<ir::ConstantRef> constants_;
  size_t begun_ = 0;                              ///< number of constants whose computation was started
  int64_t bytes_ahead_ = 0;                       ///< of all of `items_`
  std::deque<std::unique_ptr<Item>> items_ = {};  ///< that the caller has not got yet
  std::unique_ptr<Item> used_ = {};               ///< by the caller
};

}  // namespace tenon::compiler
