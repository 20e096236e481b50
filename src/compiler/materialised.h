// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "ir/constant.h"

namespace tenon::compiler {

/// The bytes of constants, one after the other. While the caller uses those of one, another thread computes the next: two buffers of the
/// largest that is computed, which are used again.
class Materialised {
 public:
  explicit Materialised(std::vector<ir::ConstantRef> constants);
  Materialised(const Materialised&) = delete;
  Materialised& operator=(const Materialised&) = delete;

  /// The bytes of the next constant, until the next call. As many calls as there are constants. Errors: out_of_memory; those of
  /// ir::materialise_into.
  Result<std::span<const std::byte>> next();

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> bytes;
    size_t size = 0;
  };
  static Result<std::span<const std::byte>> bytes_of(const ir::Constant& constant, Buffer& buffer);
  void begin();

  const std::vector<ir::ConstantRef> constants_;
  size_t begun_ = 0;
  Buffer buffers_[2];
  std::future<Result<std::span<const std::byte>>> pending_;  ///< last: it ends before what it writes to
};

}  // namespace tenon::compiler
