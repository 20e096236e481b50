// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "import/onnx_schema.h"
#include "import/proto_reader.h"

/// The protobuf messages of an ONNX file as structs, not interpreted: strings and bytes are views into the file's bytes, which the reader
/// of the model keeps alive. Memory is linear in the file's size; tensors are not decoded here.
namespace tenon::import {

/// Limits of a model. Every limit is named in the error that it causes.
struct OnnxLimits {
  int64_t nodes = 8 << 20;    ///< in the file, bodies and functions included; also the limit of nodes after functions are expanded
  int64_t values = 14 << 20;  ///< initializers, inputs and node outputs in the file
  int message_depth = 200;    ///< protobuf messages within messages
  int graph_depth = 12;       ///< bodies within bodies
  int function_depth = 64;    ///< functions that call functions
  int rank = 64;              ///< axes of a tensor
  int64_t name_bytes = 16 << 10;
  int64_t attribute_bytes = 64 << 20;  ///< one attribute that is no tensor
  int64_t tensor_bytes = int64_t{1} << 40;
};

/// A StringStringEntryProto: key and value.
using Entry = std::pair<std::string_view, std::string_view>;

struct OnnxDim {
  std::optional<int64_t> value;
  std::string_view param;
};

struct OnnxType {
  enum class Kind : uint8_t { none, tensor, sequence, optional, optional_sequence, map, sequence_of_maps, other } kind = Kind::none;
  int64_t element = 0;  ///< of the tensor, or of the tensors within
  int64_t key = 0;      ///< of a map
  std::optional<std::vector<OnnxDim>> shape;
};

struct OnnxValueInfo {
  std::string_view name;
  OnnxType type;
};

struct OnnxTensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t dtype = 0;
  bool external = false;                ///< data_location is EXTERNAL
  bool segmented = false;               ///< has the field `segment`, which is not supported
  std::optional<std::string_view> raw;  ///< raw_data
  std::vector<Entry> entries;           ///< external_data
  std::string_view message;             ///< the whole TensorProto, from which float_data, int32_data, ... are read later
};

struct OnnxSparse {
  OnnxTensor values, indices;
  std::vector<int64_t> dims;
};

struct OnnxGraph;

struct OnnxAttribute {
  std::string_view name;
  std::string_view reference;  ///< ref_attr_name: the value comes from the function's caller
  schema::AttributeType type = schema::AttributeType::undefined;
  float number = 0;
  int64_t integer = 0;
  std::string_view string;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::unique_ptr<OnnxTensor> tensor;
  std::unique_ptr<OnnxSparse> sparse;
  std::unique_ptr<OnnxGraph> graph;
  std::optional<OnnxType> value_type;
};

struct OnnxNode {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
  std::vector<std::string_view> metadata;  ///< StringStringEntryProto messages, not read yet
  const OnnxAttribute* find(std::string_view attribute) const;
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxSparse> sparse_initializers;
  std::vector<OnnxValueInfo> inputs, outputs, value_info;
};

struct OnnxOpset {
  std::string_view domain;
  int64_t version = 0;
};

struct OnnxFunction {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<OnnxAttribute> defaults;  ///< attribute_proto
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
};

struct OnnxModel {
  int64_t ir_version = 0;
  std::string_view producer, producer_version;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxFunction> functions;
  OnnxGraph graph;
};

/// "ai.onnx" and "" are one domain.
inline std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view{} : domain; }

/// Parses `bytes`, which must outlive the model. `file` is for messages.
/// Errors: bad_file with the offset, limit_exceeded.  Cost: one pass over all but the tensors' bytes.
Result<OnnxModel> parse_onnx(std::string_view bytes, std::string_view file, const OnnxLimits& limits = {});

}  // namespace tenon::import
