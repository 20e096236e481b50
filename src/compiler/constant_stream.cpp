// SPDX-License-Identifier: Apache-2.0
#include "compiler/constant_stream.h"

#include <fmt/format.h>

#include <utility>

namespace tenon::compiler {

ConstantStream::ConstantStream(std::vector<ir::ConstantRef> constants) : constants_(std::move(constants)) { begin(); }

Result<std::span<const std::byte>> ConstantStream::bytes_of(const ir::Constant& constant, Buffer& buffer) {
  const auto size = static_cast<size_t>(constant.byte_size());
  if (const Tensor* plain = std::get_if<Tensor>(&constant.source)) return std::span<const std::byte>(plain->data(), size);
  if (buffer.size < size) {
    buffer = {};
    buffer.bytes.reset(static_cast<std::byte*>(std::malloc(size)));
    if (!buffer.bytes)
      return fail(Code::out_of_memory, "weights", "no memory for the bytes of a constant")
          .expected(fmt::format("{} bytes", size))
          .found("an allocation that failed");
    buffer.size = size;
  }
  const std::span<std::byte> out(buffer.bytes.get(), size);
  TRY(ir::materialise_into(constant, out));
  return std::span<const std::byte>(out);
}

void ConstantStream::begin() {
  if (begun_ == constants_.size()) return;
  const ir::Constant& constant = *constants_[begun_];
  Buffer& buffer = buffers_[begun_++ % 2];
  // Constants that cost less than starting a thread are computed on first use; so are all where no thread can be started.
  constexpr int64_t kWorthAThread = 1 << 18;
  const auto when = constant.byte_size() < kWorthAThread ? std::launch::deferred : std::launch::async | std::launch::deferred;
  pending_ = std::async(when, [&] { return bytes_of(constant, buffer); });
}

Result<std::span<const std::byte>> ConstantStream::next() {
  Result<std::span<const std::byte>> out = pending_.get();
  begin();
  return out;
}

}  // namespace tenon::compiler
