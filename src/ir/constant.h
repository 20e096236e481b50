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

/// The bytes of a constant value: a tensor (in a mapped file or an owned buffer), a lazy expression over other constants, or a reference to
/// a file that was not read. The shape is static. Nothing is computed until `materialise`.
struct Constant {
  struct Slice {
    ConstantRef operand;
    int axis;
    int64_t begin, end, step;
  };
  struct Permute {
    ConstantRef operand;
    std::vector<int> order;
  };
  struct Reshape {
    ConstantRef operand;
  };
  struct Concat {
    std::vector<ConstantRef> operand;  ///< the parts, in order
    int axis;
  };
  struct Cast {
    ConstantRef operand;
  };
  /// Multiplies (or divides) along `axis` by `factors` (count = size of the axis), in fp64, rounded once.
  struct Scale {
    ConstantRef operand;
    ConstantRef factors;
    int axis;
    bool divide;
  };
  /// [..., K] to [..., R]: each row times `factors` [R, K] (f64), summed in fp64, rounded once.
  struct Product {
    ConstantRef operand;
    ConstantRef factors;
  };
  /// f32: element by element, rounded once.
  struct Sum {
    ConstantRef operand, addend;
  };
  /// [..., K, N] to [..., ceil(N/panel), K, panel], padded with zeros: the panels that a contraction streams. With groups of more than
  /// one row: [..., ceil(N/panel), ceil(K/group), panel, group].
  struct Pack {
    ConstantRef operand;
    int64_t panel, group;
  };

  /// Quantized numbers in blocks (GGUF), decoded to f32; blocks run along the last axis.
  struct Blocks {
    Tensor codes;  ///< u8: the blocks' bytes
    const BlockFormat* format;
  };

  /// Blocks [K / elements, N, bytes of a block] (u8) in panels of lanes, zeros beyond N: either their codes, [ceil(N/panel), K, panel] of
  /// i8 or, of fewer than 8 bits, [ceil(N/panel), K / elements, words, panel] of i32 (base/blocks/panel_words.h); or the scales and the
  /// minima that are stored, [ceil(N/panel), K / scale_elements, 1 or 2, panel] of `scale_type`.
  struct PackBlocks {
    ConstantRef operand;
    const BlockFormat* format;
    int64_t panel;
    bool scales;
  };

  /// External data of a file that was not read: only its location is known. It cannot be materialised.
  struct Reference {
    std::string location;  ///< as in the model (ONNX external_data)
    int64_t offset = 0;
    std::optional<int64_t> length;  ///< as in the model; nullopt: not given
    std::string checksum;
    friend bool operator==(const Reference&, const Reference&) = default;
  };

  DType dtype;
  Sizes shape;
  /// Where the bytes come from: a tensor, an expression, or a file that was not read.
  std::variant<Tensor, Slice, Permute, Reshape, Concat, Cast, Scale, Product, Pack, Blocks, Reference, PackBlocks, Sum> source;

  /// The first reference in its expression that was not read; null: there is none. Cost: the size of the expression.
  const Reference* unread() const;
  bool is_plain() const { return std::holds_alternative<Tensor>(source); }
  /// Calls `visit` for each tensor in its expression.
  void each_tensor(const std::function<void(const Tensor&)>& visit) const;
  /// The materialised bytes, computed on first use and cached; null where memory is short or a reference was not read. Thread-safe.
  const Tensor* tensor() const;
  int64_t count() const;
  int64_t byte_size() const { return bytes_of(dtype, count()); }

  mutable std::once_flag compute_once;     ///< used by tensor() only
  mutable std::optional<Tensor> computed;  ///< the cache of tensor()
};

/// Arguments must be in range (asserted). An operation without effect, and one that is a view of a plain tensor, adds no step to the
/// expression. `slice`: elements begin, begin + step, ... before `end` (after it for step < 0).
ConstantRef constant_of(Tensor tensor);
/// External data of a file that was not read, see Constant::Reference.
ConstantRef reference_to(Constant::Reference bytes, DType dtype, Sizes shape);
ConstantRef slice(ConstantRef operand, int axis, int64_t begin, int64_t end, int64_t step = 1);
ConstantRef permute(ConstantRef operand, std::vector<int> order);
ConstantRef reshape(ConstantRef operand, Sizes shape);
ConstantRef concat(std::vector<ConstantRef> operand, int axis);
ConstantRef cast(ConstantRef operand, DType dtype);
ConstantRef scale(ConstantRef operand, ConstantRef factors, int axis, bool divide = false);
/// Of floats. factors: f64 [R, K].
ConstantRef product(ConstantRef operand, ConstantRef factors);
/// Of two f32 constants of one shape.
ConstantRef sum(ConstantRef operand, ConstantRef addend);
ConstantRef pack(ConstantRef operand, int64_t panel, int64_t group = 1);
/// An f32 constant of that shape, decoded from blocks of a format that has a decoder. codes: plain, u8.
ConstantRef decode_blocks(Tensor codes, const BlockFormat& format, Sizes shape);

/// Steps of PackBlocks. bytes: [K / elements, N, bytes of a block] of a format that has `linear`.
ConstantRef packed_codes(ConstantRef bytes, const BlockFormat& format, int64_t panel);
ConstantRef packed_scales(ConstantRef bytes, const BlockFormat& format, int64_t panel);

/// The bytes. A plain constant is returned as it is (no copy); anything else is computed into a new buffer.
/// Cost: one pass over the bytes for each lazy step. Errors: out_of_memory, file_missing (a Reference).
Result<Tensor> materialise(const Constant& constant);
/// Streams the bytes into `out` (constant.byte_size() bytes) without a second buffer of that size where the steps allow.
Result<void> materialise_into(const Constant& constant, std::span<std::byte> out);
/// Equal dtype, shape and bytes. Lazy constants over 64 KiB compare equal only where their expressions are equal, so false may mean
/// "unknown".
bool same(const Constant& a, const Constant& b);

}  // namespace tenon::ir
