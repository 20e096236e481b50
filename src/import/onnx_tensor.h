// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/tensor.h"
#include "files/external_data.h"
#include "import/onnx_model.h"
#include "ir/constant.h"

namespace tenon::import {

/// Converts the tensors of one file to Tensors. Raw and external bytes are not copied (the tensor keeps the mapping alive), typed fields
/// are decoded. A referenced tensor may be at any address: one of up to 64 KiB is copied where it is not aligned to its element, a larger
/// one is not, so big weights are read with memcpy or unaligned loads.
class TensorReader {
 public:
  /// keeper: keeps the file's bytes alive; null: bytes are copied. data: the folder of external data; nullopt: there is none.
  TensorReader(const SourcePlace& place, std::shared_ptr<const void> keeper, std::optional<files::ExternalData> data,
               const OnnxLimits& limits)
      : place_(place), keeper_(std::move(keeper)), data_(std::move(data)), limits_(limits) {}

  /// The constant of an initializer. by_reference: where its file is missing, or the model has no folder, it becomes a reference that is
  /// not read. Errors: those of read().
  Result<ir::ConstantRef> weight(const OnnxTensor& tensor, bool by_reference);
  /// Errors: bad_file (sizes that do not fit), file_unsafe and file_missing (external data), limit_exceeded, not_supported.
  Result<Tensor> read(const OnnxTensor& tensor);
  /// A sparse tensor as a dense one, of at most kDenseLimit bytes: a file of few bytes can declare any shape.
  Result<Tensor> read(const OnnxSparse& sparse);

  static constexpr int64_t kDenseLimit = 256 << 20;

 private:
  /// Element type and sizes of a tensor.
  struct Header {
    DType dtype;
    int64_t count, bytes;
  };
  Result<Header> header(const OnnxTensor& tensor) const;
  Result<Tensor> reference(const OnnxTensor& tensor, const Header& head, std::span<const std::byte> bytes,
                           const std::shared_ptr<const void>& keeper) const;
  Result<Tensor> external(const OnnxTensor& tensor, const Header& head);
  std::string where(const OnnxTensor& tensor) const;

  SourcePlace place_;
  std::shared_ptr<const void> keeper_;
  std::optional<files::ExternalData> data_;
  OnnxLimits limits_;
};

/// Decodes the typed field (float_data, int32_data, ...) that `dtype` is stored in.
/// Errors: bad_file where the number of elements differs from `count`.
Result<Tensor> read_typed_data(const SourcePlace& place, const OnnxTensor& tensor, DType dtype, int64_t count);

}  // namespace tenon::import
