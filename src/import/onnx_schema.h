// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// Field numbers of the ONNX protobuf messages (onnx/onnx.proto of ONNX 1.23, IR version 14). Only the fields that are
/// read or written are here; a reader skips the rest.
namespace tenon::import::schema {

/// Newest default-domain opset whose ops Tenon's op files describe; a model of a newer one is read with a warning.
inline constexpr int64_t kNewestOpset = 28;
inline constexpr int64_t kOldestOpset = 1;
/// The oldest opset that export can write.
inline constexpr int64_t kOldestWrittenOpset = 7;
inline constexpr int64_t kNewestIrVersion = 14;

namespace model {
inline constexpr uint32_t kIrVersion = 1, kProducerName = 2, kProducerVersion = 3, kDomain = 4, kModelVersion = 5, kDocString = 6,
                          kGraph = 7, kOpsetImport = 8, kMetadata = 14, kFunctions = 25;
}
namespace opset {
inline constexpr uint32_t kDomain = 1, kVersion = 2;
}
namespace entry {
inline constexpr uint32_t kKey = 1, kValue = 2;
}
namespace graph {
inline constexpr uint32_t kNode = 1, kName = 2, kInitializer = 5, kDocString = 10, kInput = 11, kOutput = 12, kValueInfo = 13,
                          kSparseInitializer = 15;
}
namespace node {
inline constexpr uint32_t kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5, kDomain = 7, kOverload = 8, kMetadata = 9;
}
namespace function {
inline constexpr uint32_t kName = 1, kInput = 4, kOutput = 5, kAttribute = 6, kNode = 7, kOpsetImport = 9, kDomain = 10,
                          kAttributeProto = 11, kValueInfo = 12, kOverload = 13;
}
namespace attribute {
inline constexpr uint32_t kName = 1, kFloat = 2, kInt = 3, kString = 4, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8, kStrings = 9,
                          kTensors = 10, kGraphs = 11, kTypeProto = 14, kTypeProtos = 15, kType = 20, kRefName = 21, kSparseTensor = 22,
                          kSparseTensors = 23;
}
/// AttributeProto.AttributeType.
enum class AttributeType : int32_t {
  undefined = 0,
  number = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type_proto = 13,
  type_protos = 14,
};
namespace value_info {
inline constexpr uint32_t kName = 1, kType = 2;
}
namespace type {
inline constexpr uint32_t kTensor = 1, kSequence = 4, kMap = 5, kOpaque = 7, kSparseTensor = 8, kOptional = 9;
inline constexpr uint32_t kElement = 1, kShape = 2;  // of Tensor, Sequence and Optional alike
inline constexpr uint32_t kKey = 1, kValue = 2;      // of Map
inline constexpr uint32_t kDim = 1;                  // of TensorShapeProto
inline constexpr uint32_t kDimValue = 1, kDimParam = 2;
}  // namespace type
namespace tensor {
inline constexpr uint32_t kDims = 1, kDataType = 2, kSegment = 3, kFloatData = 4, kInt32Data = 5, kStringData = 6, kInt64Data = 7,
                          kName = 8, kRawData = 9, kDoubleData = 10, kUint64Data = 11, kExternalData = 13, kDataLocation = 14;
}
namespace sparse_tensor {
inline constexpr uint32_t kValues = 1, kIndices = 2, kDims = 3;
}

}  // namespace tenon::import::schema
