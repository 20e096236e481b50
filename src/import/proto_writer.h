// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace tenon::import {

/// A TensorProto without its data: dims, element type, name.
std::string tensor_head(std::string_view name, DType dtype, const Sizes& shape);
/// A TensorProto with the bytes in raw_data (strings in string_data); of a constant whose bytes were not read, with its external location.
/// Errors: out_of_memory, file_missing (computed from bytes that were not read).
Result<std::string> tensor_message(std::string_view name, const ir::Constant& constant);
/// A TensorProto whose bytes are in another file.
std::string external_tensor_message(std::string_view name, const ir::Constant& constant, std::string_view location, int64_t offset);
/// A ValueInfoProto.
std::string value_info_message(std::string_view name, const ir::Type& type);
/// An AttributeProto. Errors: out_of_memory.
Result<std::string> attribute_message(std::string_view name, const ir::Attribute& attribute);
std::string type_attribute_message(std::string_view name, const ir::Type& type);
std::string graph_attribute_message(std::string_view name, std::string_view graph);
std::string opset_message(std::string_view domain, int64_t version);

/// Key and length of a length-delimited field, for data that follows in a stream.
std::string field_head(uint32_t field, uint64_t length);

}  // namespace tenon::import
