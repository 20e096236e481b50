// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/blocks/block_format.h"
#include "base/tensor.h"

namespace tenon::ir {

struct Constant;
using ConstantRef = std::shared_ptr<const Constant>;

/// The bytes of a constant value: a slice of a mapped file or an owned buffer (`tensor`), a lazy expression over such, or a place in a
/// file that was not read.
/// Shape is always fully known. Nothing is computed until `materialise`.
struct Constant {
  struct Slice {
    ConstantRef of;
    int axis;
    int64_t begin, end, step;
  };
  struct Permute {
    ConstantRef of;
    std::vector<int> order;
  };
  struct Reshape {
    ConstantRef of;
  };
  struct Concat {
    std::vector<ConstantRef> of;
    int axis;
  };
  struct Cast {
    ConstantRef of;
  };
  /// Multiplies (or divides) along `axis` by `factors` (count = size of the axis), in fp64, rounded once.
  struct Scale {
    ConstantRef of;
    ConstantRef factors;
    int axis;
    bool divide;
  };
  /// [..., K] to [..., R]: each row times `factors` [R, K] (f64, plain), summed in fp64, rounded once.
  struct Product {
    ConstantRef of;
    ConstantRef factors;
  };
  /// [..., K, N] to [..., ceil(N/panel), K, panel], padded with zeros: the panels that a contraction streams. With groups of more than
  /// one row: [..., ceil(N/panel), ceil(K/group), panel, group].
  struct Pack {
    ConstantRef of;
    int64_t panel, group;
  };

  /// Numbers in blocks, decoded to f32; blocks run along the last axis.
  struct Blocks {
    Tensor codes;  ///< u8: the blocks' bytes
    const BlockFormat* format;
  };

  /// Bytes of a file that was not read: only where they lie is known. Nothing is computed from them.
  struct Reference {
    std::string location;  ///< as the model says it
    int64_t offset = 0;
    std::optional<int64_t> length;  ///< as the model says it
    std::string checksum;
    friend bool operator==(const Reference&, const Reference&) = default;
  };

  DType dtype;
  Sizes shape;
  std::variant<Tensor, Slice, Permute, Reshape, Concat, Cast, Scale, Product, Pack, Blocks, Reference> how;

  /// The first place among its steps whose bytes were not read; null: there is none. Cost: its steps.
  const Reference* unread() const;
  bool is_plain() const { return std::holds_alternative<Tensor>(how); }
  /// Calls `visit` for each tensor that its steps read.
  void each_tensor(const std::function<void(const Tensor&)>& visit) const;
  /// The bytes, computed on first use and cached; null where there is no memory for them, or where they cannot be read. Safe from
  /// several threads.
  const Tensor* tensor() const;
  int64_t count() const;
  int64_t byte_size() const { return bytes_of(dtype, count()); }

  mutable std::once_flag compute_once;  ///< of tensor() alone
  mutable std::optional<Tensor> computed;
};

/// Arguments must be in range (asserted): callers have the shapes. What changes nothing, or can be said as a
/// view of a plain tensor, makes no step. `slice`: elements begin, begin + step, ... before `end` (after it for step < 0).
ConstantRef constant_of(Tensor tensor);
ConstantRef reference_to(Constant::Reference bytes, DType dtype, Sizes shape);
ConstantRef slice(ConstantRef of, int axis, int64_t begin, int64_t end, int64_t step = 1);
ConstantRef permute(ConstantRef of, std::vector<int> order);
ConstantRef reshape(ConstantRef of, Sizes shape);
ConstantRef concat(std::vector<ConstantRef> of, int axis);
ConstantRef cast(ConstantRef of, DType dtype);
ConstantRef scale(ConstantRef of, ConstantRef factors, int axis, bool divide = false);
/// Of floats. factors: a plain f64 tensor [R, K].
ConstantRef product(ConstantRef of, ConstantRef factors);
ConstantRef pack(ConstantRef of, int64_t panel, int64_t group = 1);
/// f32 of that shape, from whole blocks of a format that has a decoder. codes: plain, u8.
ConstantRef decoded(Tensor codes, const BlockFormat& format, Sizes shape);

/// The bytes. A plain constant is returned as it is (no copy); anything else is computed into a new buffer.
/// Cost: one pass over the bytes for each lazy step. Errors: out_of_memory, file_missing (a Reference).
Result<Tensor> materialise(const Constant& constant);
/// Streams the bytes into `out` (constant.byte_size() bytes) without a second buffer of that size where the steps allow.
Result<void> materialise_into(const Constant& constant, std::span<std::byte> out);
/// Equal dtype, shape and bytes. Lazy constants over 64 KiB are equal only where their steps are (false says "not known to be").
bool same(const Constant& a, const Constant& b);

}  // namespace tenon::ir
