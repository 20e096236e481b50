// SPDX-License-Identifier: Apache-2.0
// Sizes and types of Tenon as TensorRT's, and back.
#pragma once
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tenon/ext/core.hpp"
#include "tenon/trt/expressions.hpp"

namespace tenon::trt::detail {

class Expr final : public IDimensionExpr {
 public:
  Expr(ext::Dim dim, bool is_size_tensor) : dim_(dim), is_size_tensor_(is_size_tensor) {}
  ext::Dim dim() const { return dim_; }
  bool isConstant() const noexcept override { return dim_.number().has_value(); }
  int64_t getConstantValue() const noexcept override { return dim_.number().value_or(std::numeric_limits<int64_t>::min()); }
  bool isSizeTensor() const noexcept override { return is_size_tensor_; }

 private:
  ext::Dim dim_;
  bool is_size_tensor_;
};

/// Makes sizes, and keeps them.
class Exprs final : public IExprBuilder {
 public:
  /// What a size tensor is: the output and its upper bound.
  using SizeTensor = std::function<ext::Dim(int32_t output, ext::Dim most)>;
  explicit Exprs(SizeTensor size_tensor) : size_tensor_(std::move(size_tensor)) {}

  IDimensionExpr const* constant(int64_t value) noexcept override { return kept(ext::Dim(value)); }
  IDimensionExpr const* operation(DimensionOperation op, IDimensionExpr const& a, IDimensionExpr const& b) noexcept override {
    return kept(ext::operation(operation_of(op), dim_of(a), dim_of(b)));
  }
  IDimensionExpr const* declareSizeTensor(int32_t output, IDimensionExpr const& /*opt*/, IDimensionExpr const& upper) override {
    return size_tensor_ ? kept(size_tensor_(output, dim_of(upper)), true) : nullptr;
  }
  IDimensionExpr const* kept(ext::Dim dim, bool is_size_tensor = false) noexcept {
    try {
      return &made_.emplace_back(dim, is_size_tensor);
    } catch (...) { return nullptr; }
  }
  static ext::Dim dim_of(IDimensionExpr const& e) { return static_cast<const Expr&>(e).dim(); }

  DimsExprs of(const std::vector<ext::Dim>& sizes) {
    DimsExprs out{};
    out.nbDims = static_cast<int32_t>(sizes.size());
    for (size_t axis = 0; axis < sizes.size(); ++axis) out.d[axis] = kept(sizes[axis]);
    return out;
  }
  /// Errors: dims that cannot be.
  static std::vector<ext::Dim> sizes_of(const DimsExprs& dims, int32_t output) {
    const std::string whose = "the plugin gives dims of output " + std::to_string(output) + " that cannot be: ";
    if (dims.nbDims < 0 || dims.nbDims > Dims::MAX_DIMS) throw ext::Error(TENON_FAILED, whose + std::to_string(dims.nbDims) + " of them");
    std::vector<ext::Dim> out;
    for (int32_t axis = 0; axis < dims.nbDims; ++axis) {
      if (!dims.d[axis]) throw ext::Error(TENON_FAILED, whose + "number " + std::to_string(axis) + " is null");
      out.push_back(dim_of(*dims.d[axis]));
    }
    return out;
  }

 private:
  static tenon_dim_operation operation_of(DimensionOperation op) {
    switch (op) {
      case DimensionOperation::kSUM: return TENON_ADD;
      case DimensionOperation::kPROD: return TENON_MULTIPLY;
      case DimensionOperation::kMAX: return TENON_MAX;
      case DimensionOperation::kMIN: return TENON_MIN;
      case DimensionOperation::kSUB: return TENON_SUBTRACT;
      case DimensionOperation::kEQUAL: return TENON_EQUAL;
      case DimensionOperation::kLESS: return TENON_LESS;
      case DimensionOperation::kFLOOR_DIV: return TENON_FLOOR_DIVIDE;
      default: return TENON_CEIL_DIVIDE;
    }
  }

  SizeTensor size_tensor_;
  std::deque<Expr> made_;
};

struct TypePair {
  int32_t dtype;
  DataType type;
  size_t bytes;
};
constexpr TypePair kTypes[] = {{TENON_F32, DataType::kFLOAT, 4},  {TENON_F16, DataType::kHALF, 2},  {TENON_I8, DataType::kINT8, 1},
                               {TENON_I32, DataType::kINT32, 4},  {TENON_BOOL, DataType::kBOOL, 1}, {TENON_U8, DataType::kUINT8, 1},
                               {TENON_F8E4M3, DataType::kFP8, 1}, {TENON_BF16, DataType::kBF16, 2}, {TENON_I64, DataType::kINT64, 8}};

/// The dtypes that TensorRT has a name for.
constexpr uint32_t kDtypes = TENON_DTYPE_BIT(TENON_F32) | TENON_DTYPE_BIT(TENON_F16) | TENON_DTYPE_BIT(TENON_I8) |
                             TENON_DTYPE_BIT(TENON_I32) | TENON_DTYPE_BIT(TENON_BOOL) | TENON_DTYPE_BIT(TENON_U8) |
                             TENON_DTYPE_BIT(TENON_F8E4M3) | TENON_DTYPE_BIT(TENON_BF16) | TENON_DTYPE_BIT(TENON_I64);

inline DataType type_of(int32_t dtype) {
  for (const TypePair& pair : kTypes)
    if (pair.dtype == dtype) return pair.type;
  throw ext::Error(TENON_NOT_SUPPORTED, dtype == TENON_NO_DTYPE ? "an operand is missing, which plugins of TensorRT have no word for"
                                                                : "TensorRT has no type for dtype " + std::to_string(dtype));
}
inline const TypePair& pair_of(DataType type, int32_t output) {
  for (const TypePair& pair : kTypes)
    if (pair.type == type) return pair;
  throw ext::Error(TENON_FAILED, "the plugin gives a type of output " + std::to_string(output) +
                                     " that Tenon has none for: " + std::to_string(static_cast<int32_t>(type)));
}
inline TensorFormat format_of(int32_t layout) {
  if (layout == TENON_ROW_MAJOR) return TensorFormat::kLINEAR;
  if (layout == TENON_CHANNELS_LAST) return TensorFormat::kHWC;
  throw ext::Error(TENON_NOT_SUPPORTED, "TensorRT has no format of any strides");
}

inline Dims dims_of(const int64_t* sizes, int32_t rank) {
  if (rank > Dims::MAX_DIMS)
    throw ext::Error(TENON_NOT_SUPPORTED, "plugins of TensorRT take at most 8 dimensions, not " + std::to_string(rank));
  Dims out{rank, {}};
  for (int32_t axis = 0; axis < rank; ++axis) out.d[axis] = sizes[axis];
  return out;
}
inline PluginTensorDesc desc_of(const tenon_tensor& t) { return {dims_of(t.sizes, t.rank), type_of(t.dtype), format_of(t.layout), -1.0F}; }
inline DynamicPluginTensorDesc dynamic(const PluginTensorDesc& d) { return {d, d.dims, d.dims, d.dims}; }
inline std::vector<DynamicPluginTensorDesc> dynamic(const std::vector<PluginTensorDesc>& all) {
  std::vector<DynamicPluginTensorDesc> out;
  for (const PluginTensorDesc& d : all) out.push_back(dynamic(d));
  return out;
}
inline int64_t count_of(const Dims& dims) {
  int64_t n = 1;
  for (int32_t axis = 0; axis < dims.nbDims; ++axis) n *= dims.d[axis];
  return n;
}
inline bool same(const std::vector<PluginTensorDesc>& a, const std::vector<PluginTensorDesc>& b) {
  const auto equal = [](const PluginTensorDesc& x, const PluginTensorDesc& y) {
    return x.type == y.type && x.format == y.format && x.dims.nbDims == y.dims.nbDims &&
           std::equal(x.dims.d, x.dims.d + std::max(0, x.dims.nbDims), y.dims.d);
  };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), equal);
}

}  // namespace tenon::trt::detail
