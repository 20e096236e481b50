// SPDX-License-Identifier: Apache-2.0
#include "compiler/constant_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon::compiler {

ConstantStream::ConstantStream(std::vector<ir::ConstantRef> constants) : constants_(std::move(constants)) { begin(); }

Result<std::span<const std::byte>> ConstantStream::bytes_of(const ir::Constant& constant, Item& item) {
  const auto size = static_cast<size_t>(item.size);
  if (const Tensor* plain = std::get_if<Tensor>(&constant.source)) return std::span<const std::byte>(plain->data(), size);
  item.memory.reset(static_cast<std::byte*>(std::malloc(std::max<size_t>(size, 1))));
  if (!item.memory)
    return fail(Code::out_of_memory, "weights", "no memory for the bytes of a constant")
        .expected(fmt::format("{} bytes", size))
        .found("an allocation that failed");
  const std::span<std::byte> out(item.memory.get(), size);
  TRY(ir::materialise_into(constant, out));
  return std::span<const std::byte>(out);
}

void ConstantStream::begin() {
  // Constants that cost less than starting a thread are computed on first use; so are all where no thread can be started.
  constexpr int64_t kWorthAThread = 1 << 16;
  while (begun_ < constants_.size() && items_.size() < kMostAhead) {
    const ir::Constant& constant = *constants_[begun_];
    const int64_t size = constant.byte_size();
    if (!items_.empty() && bytes_ahead_ + size > kBytesAhead) return;
    ++begun_;
    bytes_ahead_ += size;
    Item& item = *items_.emplace_back(std::make_unique<Item>());
    item.size = size;
    const auto when = size < kWorthAThread ? std::launch::deferred : std::launch::async | std::launch::deferred;
    item.bytes = std::async(when, [&] { return bytes_of(constant, item); });
  }
}

Result<std::span<const std::byte>> ConstantStream::next() {
  used_ = std::move(items_.front());
  items_.pop_front();
  Result<std::span<const std::byte>> out = used_->bytes.get();
  bytes_ahead_ -= used_->size;
  begin();
  return out;
}

}  // namespace tenon::compiler
