// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx_model.h"
#include "ir/type.h"

namespace tenon::import {

/// The sizes that a dimension may have in a run, `least` to `most`, and its default size, `usual`: the min, max and opt of a TensorRT
/// optimization profile.
struct SizeInterval {
  int64_t least = 0, usual = 0, most = 0;
  friend bool operator==(const SizeInterval&, const SizeInterval&) = default;
};

/// One size of `--shape NAME=1xseqx128`: a number, a symbol by name, or (neither) as in the model; or, of
/// `--shape NAME=1x14:8x128:32x512`, an interval.
struct RequestedDim {
  std::optional<int64_t> size;
  std::string symbol;
  std::optional<SizeInterval> interval = {};
};

/// The shape that the user requests for an input.
struct RequestedShape {
  std::string input;
  std::vector<RequestedDim> dims;
};

/// Whether the text can be the name of a symbol.
bool is_identifier(std::string_view s);

/// Gives each dim_param of a model its Dim: equal names are equal symbols; a name that is a sum or product of other inputs' names
/// ("past + seq") is that polynomial; anything else is a symbol of its own, spelled as an identifier. Names that a requested shape
/// fixes are numbers everywhere.
class TypeReader {
 public:
  TypeReader(Symbols& symbols, std::string_view file) : symbols_(symbols), file_(file) {}

  /// Collects the numbers and intervals of symbols from the inputs of the root graph and the requested shapes; call it before any type is
  /// read. Errors: bad_input (no such input, other rank, contradiction with the model or with another shape).
  Result<void> learn(const std::vector<OnnxValueInfo>& inputs, const std::vector<RequestedShape>& shapes);
  /// The type of input `info` with the requested shape applied.
  Result<ir::Type> input_type(const OnnxValueInfo& info);
  /// Errors: not_supported (sparse, map, sequence of sequences; 6-bit floats), size_overflow.
  Result<ir::Type> type(const OnnxType& type, std::string_view name);

 private:
  Result<void> learn(const OnnxValueInfo& input, const RequestedShape& shape);
  Result<void> learn_size(const OnnxValueInfo& input, size_t axis, int64_t wanted);
  Result<void> learn_interval(const OnnxValueInfo& input, size_t axis, const SizeInterval& wanted);
  Result<Dim> dim(const OnnxDim& dim, std::string_view name);
  Dim param(std::string_view name);
  std::optional<Dim> expression(std::string_view text);

  Symbols& symbols_;
  std::string_view file_;
  std::map<std::string, int64_t, std::less<>> fixed_;  ///< dim_param -> number
  std::map<std::string, Dim, std::less<>> params_;
  std::map<std::string, RequestedShape, std::less<>> requests_;
};

}  // namespace tenon::import
