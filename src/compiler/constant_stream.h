// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "ir/constant.h"

namespace tenon::compiler {

/// Materialises constants one after the other. While the caller uses the bytes of one, another thread computes the next. Memory: two
/// buffers of the size of the largest constant that is computed.
class ConstantStream {
 public:
  explicit ConstantStream(std::vector<ir::ConstantRef> constants);
  ConstantStream(const ConstantStream&) = delete;
  ConstantStream& operator=(const ConstantStream&) = delete;

  /// The bytes of the next constant, until the next call. As many calls as there are constants. Errors: out_of_memory; those of
  /// ir::materialise_into.
  Result<std::span<const std::byte>> next();

 private:
  /// Frees memory that malloc() gave.
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> bytes;
    size_t size = 0;
  };
  /// The bytes of a constant: its own where it is plain, else computed into `buffer`.
  static Result<std::span<const std::byte>> bytes_of(const ir::Constant& constant, Buffer& buffer);
  /// Starts the thread that computes the next constant.
  void begin();

  const std::vector<ir::ConstantRef> constants_;
  size_t begun_ = 0;  ///< number of constants whose computation was started
  Buffer buffers_[2];
  std::future<Result<std::span<const std::byte>>> pending_;  ///< last member: destroyed before the buffers that its thread writes to
};

}  // namespace tenon::compiler
