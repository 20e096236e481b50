// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/checked.h"

namespace tenon::inline base {
namespace {

constexpr size_t kAlignment = 64;

/// Tensors of up to this many bytes are aligned by allocating some bytes more. glibc cuts aligned blocks out of larger ones, so that
/// thousands of small constants would fragment the heap.
constexpr size_t kSmall = 16384;

std::shared_ptr<std::byte> small_zeroed_buffer(size_t size) {
  size_t room = size + kAlignment;
  void* const memory = std::calloc(1, room);
  void* aligned = memory;
  if (memory == nullptr || std::align(kAlignment, size, aligned, room) == nullptr) return nullptr;
  return {static_cast<std::byte*>(aligned), [memory](std::byte*) { std::free(memory); }};
}

std::shared_ptr<std::byte> zeroed_buffer(int64_t bytes) {
  if (bytes <= static_cast<int64_t>(kSmall)) return small_zeroed_buffer(static_cast<size_t>(bytes));
  const size_t size = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, size == 0 ? kAlignment : size);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, size == 0 ? kAlignment : size);
  return {static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); }};
}

}  // namespace

Tensor::Tensor(const Tensor& other) = default;
Tensor::Tensor(Tensor&& other) noexcept = default;
Tensor& Tensor::operator=(const Tensor& other) = default;
Tensor& Tensor::operator=(Tensor&& other) noexcept = default;
Tensor::~Tensor() = default;

Result<Tensor> Tensor::make(DType dtype, Sizes shape, int64_t byte_limit) {
  TENON_ASSERT(dtype < DType::map);
  const auto count = checked_count(shape);
  if (!count || *count >= int64_t{1} << 56) {
    return fail(Code::size_overflow, {}, "a tensor's size does not fit")
        .expected("fewer than 2^56 elements")
        .found(type_text(dtype, shape));
  }
  const int64_t bytes = dtype == DType::string ? *count * static_cast<int64_t>(sizeof(std::string)) : bytes_of(dtype, *count);
  if (bytes > byte_limit) {
    return fail(Code::limit_exceeded, {}, "a tensor is larger than the limit")
        .expected(fmt::format("at most {} bytes", byte_limit))
        .found(fmt::format("{}: {} bytes", type_text(dtype, shape), bytes));
  }
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  t.count_ = *count;
  if (dtype == DType::string) {
    t.strings_ = std::make_shared<std::vector<std::string>>(static_cast<size_t>(*count));
    return t;
  }
  auto buffer = zeroed_buffer(bytes);
  if (!buffer)
    return fail(Code::out_of_memory, {}, "no memory for a tensor")
        .expected(fmt::format("{} bytes", bytes))
        .found(type_text(dtype, t.shape_));
  t.data_ = buffer.get();
  t.keeper_ = std::move(buffer);
  return t;
}

Tensor Tensor::view(DType dtype, Sizes shape, const void* bytes, std::shared_ptr<const void> keeper, MemoryPlace place) {
  const auto count = checked_count(shape);
  TENON_ASSERT(count.has_value() && bits_of(dtype) > 0);
  Tensor t;
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  t.count_ = *count;
  t.data_ = static_cast<std::byte*>(const_cast<void*>(bytes));
  t.place_ = place;
  t.keeper_ = std::move(keeper);
  return t;
}

Tensor Tensor::of_f32(Sizes shape, std::span<const float> data) {
  auto t = make(DType::f32, std::move(shape));
  TENON_ASSERT(t.has_value() && t->count_ == static_cast<int64_t>(data.size()));
  if (!data.empty()) std::memcpy(t->data_, data.data(), data.size_bytes());
  return *std::move(t);
}

Tensor Tensor::of_i64(Sizes shape, std::span<const int64_t> data) {
  auto t = make(DType::i64, std::move(shape));
  TENON_ASSERT(t.has_value() && t->count_ == static_cast<int64_t>(data.size()));
  if (!data.empty()) std::memcpy(t->data_, data.data(), data.size_bytes());
  return *std::move(t);
}

Tensor Tensor::of_strings(Sizes shape, std::vector<std::string> data) {
  Tensor t;
  const auto count = checked_count(shape);
  TENON_ASSERT(count.has_value() && *count == static_cast<int64_t>(data.size()));
  t.dtype_ = DType::string;
  t.shape_ = std::move(shape);
  t.count_ = *count;
  t.strings_ = std::make_shared<std::vector<std::string>>(std::move(data));
  return t;
}

Tensor Tensor::of_elements(DType kind, std::vector<Tensor> elements) {
  TENON_ASSERT(kind == DType::sequence || (kind == DType::optional && elements.size() <= 1) ||
               (kind == DType::map && elements.size() == 2 && are_keys_and_values(elements[0], elements[1])));
  Tensor t;
  t.dtype_ = kind;
  t.shape_ = {static_cast<int64_t>(elements.size())};
  t.count_ = t.shape_[0];
  t.elements_ = std::make_shared<const std::vector<Tensor>>(std::move(elements));
  return t;
}

bool are_keys_and_values(const Tensor& keys, const Tensor& values) {
  const bool types = (keys.dtype() == DType::i64 || keys.dtype() == DType::string) && !values.holds_tensors();
  return types && keys.rank() == 1 && keys.shape() == values.shape();
}

Tensor Tensor::scalar(DType dtype, double value) {
  auto t = make(dtype, {});
  TENON_ASSERT(t.has_value() && bits_of(dtype) > 0);
  t->set_number(0, value);
  return *std::move(t);
}

Tensor Tensor::reshaped(Sizes shape) const {
  const auto count = checked_count(shape);
  TENON_ASSERT(count.has_value() && *count == count_);
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

std::string type_text(DType dtype, const Sizes& shape) { return fmt::format("{}[{}]", name_of(dtype), fmt::join(shape, ",")); }

std::string type_text(const Tensor& t) {
  if (!t.holds_tensors()) return type_text(t.dtype(), t.shape());
  constexpr size_t kMost = 6;
  std::string out;
  for (size_t k = 0; k < t.elements().size() && k <= kMost; ++k) out += (k ? "," : "") + (k < kMost ? type_text(t.elements()[k]) : "...");
  return fmt::format("{}({})", name_of(t.dtype()), out);
}

Result<Tensor> owned(const Tensor& t) {
  return with_each_tensor(t, [](const Tensor& e) -> Result<Tensor> {
    if (!e.has_bytes() || e.keeper()) return e;
    TRY(check_on_host(e, "copy"));
    Tensor copy = TRY(Tensor::make(e.dtype(), e.shape()));
    if (e.byte_size() > 0) std::memcpy(copy.mutable_data(), e.data(), static_cast<size_t>(e.byte_size()));
    return copy;
  });
}

}  // namespace tenon::inline base
