// SPDX-License-Identifier: Apache-2.0
#include "import/proto_writer.h"

#include <iterator>

#include <protozero/pbf_writer.hpp>

#include "import/onnx_schema.h"

namespace tenon::import {

using protozero::pbf_writer;
using schema::AttributeType;

namespace {

std::string message_with(uint32_t field, const std::string& message) {
  std::string out;
  pbf_writer(out).add_message(field, message);
  return out;
}

std::string shape_message(const ir::Type& type) {
  std::string shape;
  for (Dim d : *type.shape) {
    std::string dim;
    if (d.is_number()) pbf_writer(dim).add_int64(schema::type::kDimValue, d.value());
    else if (type.is_tensor()) pbf_writer(dim).add_string(schema::type::kDimParam, d.text());
    pbf_writer(shape).add_message(schema::type::kDim, dim);
  }
  return shape;
}

std::string tensor_type_message(const ir::Type& type) {
  std::string tensor;
  pbf_writer t(tensor);
  t.add_int32(schema::type::kElement, static_cast<int32_t>(type.dtype));
  if (type.shape) t.add_message(schema::type::kShape, shape_message(type));
  return message_with(schema::type::kTensor, tensor);
}

std::string map_type_message(DType key, const std::string& value) {
  std::string map;
  pbf_writer fields(map);
  fields.add_int32(schema::type::kKey, static_cast<int32_t>(key));
  fields.add_message(schema::type::kValue, value);
  return message_with(schema::type::kMap, map);
}

std::string type_message(const ir::Type& type) {
  std::string out = tensor_type_message(type);
  if (type.is_map()) out = map_type_message(type.key, out);
  if (type.is_sequence() || type.kind == ir::Type::Kind::sequence_of_maps || type.kind == ir::Type::Kind::optional_sequence)
    out = message_with(schema::type::kSequence, message_with(schema::type::kElement, out));
  if (type.is_optional()) out = message_with(schema::type::kOptional, message_with(schema::type::kElement, out));
  return out;
}

}  // namespace

std::string tensor_head(std::string_view name, DType dtype, const Sizes& shape) {
  std::string out;
  pbf_writer t(out);
  for (int64_t size : shape) t.add_int64(schema::tensor::kDims, size);
  t.add_int32(schema::tensor::kDataType, static_cast<int32_t>(dtype));
  if (!name.empty()) t.add_string(schema::tensor::kName, name.data(), name.size());
  return out;
}

namespace {

/// A TensorProto whose bytes lie in another file, by the entries that say where.
std::string tensor_elsewhere(std::string_view name, const ir::Constant& constant,
                             const std::vector<std::pair<std::string_view, std::string>>& entries) {
  std::string out = tensor_head(name, constant.dtype, constant.shape);
  pbf_writer t(out);
  for (const auto& [key, value] : entries) {
    std::string pair;
    pbf_writer p(pair);
    p.add_string(schema::entry::kKey, key.data(), key.size());
    p.add_string(schema::entry::kValue, value);
    t.add_message(schema::tensor::kExternalData, pair);
  }
  t.add_int32(schema::tensor::kDataLocation, 1);
  return out;
}

/// A TensorProto with the external location that the source model had.
std::string referring_message(std::string_view name, const ir::Constant& constant, const ir::Constant::Reference& bytes) {
  std::vector<std::pair<std::string_view, std::string>> entries = {{"location", bytes.location}};
  if (bytes.offset != 0 || bytes.length) entries.emplace_back("offset", std::to_string(bytes.offset));
  if (bytes.length) entries.emplace_back("length", std::to_string(*bytes.length));
  if (!bytes.checksum.empty()) entries.emplace_back("checksum", bytes.checksum);
  return tensor_elsewhere(name, constant, entries);
}

}  // namespace

Result<std::string> tensor_message(std::string_view name, const ir::Constant& constant) {
  if (const auto* bytes = std::get_if<ir::Constant::Reference>(&constant.source)) return referring_message(name, constant, *bytes);
  std::string out = tensor_head(name, constant.dtype, constant.shape);
  const Tensor tensor = TRY(ir::materialise(constant));
  pbf_writer t(out);
  if (constant.dtype == DType::string) {
    for (const std::string& s : tensor.strings()) t.add_bytes(schema::tensor::kStringData, s);
  } else {
    t.add_bytes(schema::tensor::kRawData, reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.byte_size()));
  }
  return out;
}

std::string external_tensor_message(std::string_view name, const ir::Constant& constant, std::string_view location, int64_t offset) {
  return tensor_elsewhere(
      name, constant,
      {{"location", std::string(location)}, {"offset", std::to_string(offset)}, {"length", std::to_string(constant.byte_size())}});
}

std::string value_info_message(std::string_view name, const ir::Type& type) {
  std::string out;
  pbf_writer v(out);
  v.add_string(schema::value_info::kName, name.data(), name.size());
  if (type.dtype != DType::none) v.add_message(schema::value_info::kType, type_message(type));
  return out;
}

std::string type_attribute_message(std::string_view name, const ir::Type& type) {
  std::string out;
  pbf_writer a(out);
  a.add_string(schema::attribute::kName, name.data(), name.size());
  a.add_message(schema::attribute::kTypeProto, type_message(type));
  a.add_int32(schema::attribute::kType, static_cast<int32_t>(AttributeType::type_proto));
  return out;
}

std::string opset_message(std::string_view domain, int64_t version) {
  std::string out;
  pbf_writer o(out);
  o.add_string(schema::opset::kDomain, domain.data(), domain.size());
  o.add_int64(schema::opset::kVersion, version);
  return out;
}

std::string field_head(uint32_t field, uint64_t length) {
  std::string out;
  protozero::write_varint(std::back_inserter(out), (uint64_t{field} << 3) | 2);
  protozero::write_varint(std::back_inserter(out), length);
  return out;
}

}  // namespace tenon::import
