// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/memory_place.h"
#include "base/result.h"

namespace tenon::inline base {

using Sizes = std::vector<int64_t>;

/// Dense row-major tensor whose bytes are shared and never copied by assignment. Strings are stored apart from the bytes; so are the
/// elements of a sequence (tensors, or maps), of an optional (one or none, a tensor or a sequence) and of a map (its keys, i64[n] or
/// string[n], and its values [n]): values of rank 1 with the dtypes `sequence`, `optional` and `map`. Either owns its buffer, or keeps
/// `keeper` (a mapped file, a caller's array) alive. The bytes of a view may lie in the memory of a device, where the host reads and writes
/// none of them (check_on_host).
class Tensor {
 public:
  Tensor() = default;
  // Not inline: nearly every file of the compiler copies or drops one.
  Tensor(const Tensor& other);
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(const Tensor& other);
  Tensor& operator=(Tensor&& other) noexcept;
  ~Tensor();
  /// Zeroed, 64-byte aligned. Errors: size_overflow, out_of_memory, limit_exceeded (over `byte_limit`).
  static Result<Tensor> make(DType dtype, Sizes shape, int64_t byte_limit = int64_t{1} << 40);
  /// A view of foreign bytes; `keeper` is held until the last view is gone. The bytes must suffice (asserted by the caller).
  static Tensor view(DType dtype, Sizes shape, const void* bytes, std::shared_ptr<const void> keeper, MemoryPlace place = {});
  /// Convenience for tests and shape arithmetic; data.size() must be the product of the shape.
  static Tensor of_f32(Sizes shape, std::span<const float> data);
  static Tensor of_i64(Sizes shape, std::span<const int64_t> data);
  static Tensor of_strings(Sizes shape, std::vector<std::string> data);
  static Tensor scalar(DType dtype, double value);
  /// kind: DType::sequence, optional or map (of keys and values that are as above: are_keys_and_values).
  static Tensor of_elements(DType kind, std::vector<Tensor> elements);

  /// Whether this is a default-made Tensor, which has no dtype and no elements: in lists, a missing tensor.
  bool empty_handle() const { return dtype_ == DType::none; }
  DType dtype() const { return dtype_; }
  const Sizes& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t count() const { return count_; }
  int64_t byte_size() const { return bytes_of(dtype_, count_); }
  const std::byte* data() const { return data_; }
  /// Where the bytes lie.
  const MemoryPlace& place() const { return place_; }
  /// Only before the tensor is shared.
  std::byte* mutable_data() { return data_; }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(count_)};
  }
  const std::shared_ptr<const void>& keeper() const { return keeper_; }
  bool has_bytes() const { return bits_of(dtype_) > 0; }
  bool holds_tensors() const { return dtype_ >= DType::map; }
  /// Only where holds_tensors().
  const std::vector<Tensor>& elements() const { return *elements_; }
  const std::vector<std::string>& strings() const { return *strings_; }
  std::vector<std::string>& mutable_strings() { return *strings_; }

  /// Element `i` in row-major order, any dtype but string; complex gives the real part. Slow, for reference code and printing.
  double number(int64_t i) const;
  int64_t integer(int64_t i) const;
  /// Rounds to the dtype (integers: truncates and wraps; bool: != 0).
  void set_number(int64_t i, double value);
  void set_integer(int64_t i, int64_t value);

  /// Same bytes, other shape; counts must be equal.
  Tensor reshaped(Sizes shape) const;

 private:
  DType dtype_ = DType::none;
  Sizes shape_;
  int64_t count_ = 0;
  std::byte* data_ = nullptr;
  MemoryPlace place_;
  std::shared_ptr<const void> keeper_;
  std::shared_ptr<std::vector<std::string>> strings_;
  std::shared_ptr<const std::vector<Tensor>> elements_;
};

/// Whether the two can be the keys and values of a map.
bool are_keys_and_values(const Tensor& keys, const Tensor& values);

/// All elements as double (integers exact up to 2^53) or int64; back to `t`'s dtype: floats are rounded,
/// integers truncated and wrapped.
std::vector<double> numbers_of(const Tensor& t);
std::vector<int64_t> integers_of(const Tensor& t);
void store_numbers(Tensor& t, std::span<const double> values);
void store_integers(Tensor& t, std::span<const int64_t> values);
/// "f32[2,3]"
std::string type_text(DType dtype, const Sizes& shape);
/// "f32[2,3]", "seq(f32[2],f32[3])", "optional()"; of many elements the first.
std::string type_text(const Tensor& t);

/// The tensor itself where it owns its bytes, else a copy, since the owner of the bytes may overwrite them. Errors: out_of_memory;
/// not_supported for bytes outside of host memory.
Result<Tensor> owned(const Tensor& t);
/// Calls visit(tensor) for the tensor itself, or for every tensor that it holds, in their order.
template <class Visit>
void each_tensor(const Tensor& t, Visit&& visit) {
  if (!t.holds_tensors()) return visit(t);
  for (const Tensor& e : t.elements()) each_tensor(e, visit);
}
/// The same value with convert(tensor) in the place of every tensor that it is or holds.
template <class Convert>
Result<Tensor> with_each_tensor(const Tensor& t, Convert&& convert) {
  if (!t.holds_tensors()) return convert(t);
  std::vector<Tensor> elements;
  for (const Tensor& e : t.elements()) elements.push_back(TRY(with_each_tensor(e, convert)));
  return Tensor::of_elements(t.dtype(), std::move(elements));
}

}  // namespace tenon::inline base
