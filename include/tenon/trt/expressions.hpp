// SPDX-License-Identifier: Apache-2.0
// Sizes that are not known yet.
#pragma once
#include "tenon/trt/types.hpp"

namespace tenon::trt {

enum class DimensionOperation : int32_t {
  kSUM = 0,
  kPROD = 1,
  kMAX = 2,
  kMIN = 3,
  kSUB = 4,
  kEQUAL = 5,
  kLESS = 6,
  kFLOOR_DIV = 7,
  kCEIL_DIV = 8
};

/// A size. Lives until the function returns that was given it or its builder.
class IDimensionExpr {
 public:
  virtual bool isConstant() const noexcept = 0;
  /// Of a size that is no constant: the least int64.
  virtual int64_t getConstantValue() const noexcept = 0;
  virtual bool isSizeTensor() const noexcept = 0;

 protected:
  IDimensionExpr() = default;
  IDimensionExpr(IDimensionExpr const&) = delete;
  IDimensionExpr& operator=(IDimensionExpr const&) = delete;
  virtual ~IDimensionExpr() noexcept = default;
};

class IExprBuilder {
 public:
  /// Null: no memory.
  virtual IDimensionExpr const* constant(int64_t value) noexcept = 0;
  virtual IDimensionExpr const* operation(DimensionOperation op, IDimensionExpr const& first, IDimensionExpr const& second) noexcept = 0;
  /// The size that output `outputIndex`, a scalar of type kINT32 or kINT64, holds after a run. V3 alone; null: not there.
  virtual IDimensionExpr const* declareSizeTensor(int32_t outputIndex, IDimensionExpr const& opt, IDimensionExpr const& upper) = 0;

 protected:
  IExprBuilder() = default;
  IExprBuilder(IExprBuilder const&) = delete;
  IExprBuilder& operator=(IExprBuilder const&) = delete;
  virtual ~IExprBuilder() noexcept = default;
};

class DimsExprs {
 public:
  int32_t nbDims;
  IDimensionExpr const* d[Dims::MAX_DIMS];
};

}  // namespace tenon::trt
