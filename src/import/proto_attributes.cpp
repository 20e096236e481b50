// SPDX-License-Identifier: Apache-2.0
#include <protozero/pbf_writer.hpp>

#include "import/onnx_schema.h"
#include "import/proto_writer.h"

namespace tenon::import {

using protozero::pbf_writer;
using schema::AttributeType;

namespace {

struct AttributeFields {
  pbf_writer& out;
  Result<AttributeType> operator()(int64_t v) {
    out.add_int64(schema::attribute::kInt, v);
    return AttributeType::integer;
  }
  Result<AttributeType> operator()(float v) {
    out.add_float(schema::attribute::kFloat, v);
    return AttributeType::number;
  }
  Result<AttributeType> operator()(const std::string& v) {
    out.add_string(schema::attribute::kString, v);
    return AttributeType::string;
  }
  Result<AttributeType> operator()(const ir::Ints& v) {
    for (int64_t i : v) out.add_int64(schema::attribute::kInts, i);
    return AttributeType::ints;
  }
  Result<AttributeType> operator()(const ir::Floats& v) {
    for (float f : v) out.add_float(schema::attribute::kFloats, f);
    return AttributeType::floats;
  }
  Result<AttributeType> operator()(const ir::Strings& v) {
    for (const std::string& s : v) out.add_string(schema::attribute::kStrings, s);
    return AttributeType::strings;
  }
  Result<AttributeType> operator()(const Tensor& v) {
    out.add_message(schema::attribute::kTensor, TRY(tensor_message("", *ir::constant_of(v))));
    return AttributeType::tensor;
  }
};

}  // namespace

Result<std::string> attribute_message(std::string_view name, const ir::Attribute& attribute) {
  std::string out;
  pbf_writer a(out);
  a.add_string(schema::attribute::kName, name.data(), name.size());
  const AttributeType type = TRY(std::visit(AttributeFields{a}, attribute));
  a.add_int32(schema::attribute::kType, static_cast<int32_t>(type));
  return out;
}

std::string graph_attribute_message(std::string_view name, std::string_view graph) {
  std::string out;
  pbf_writer a(out);
  a.add_string(schema::attribute::kName, name.data(), name.size());
  a.add_message(schema::attribute::kGraph, graph.data(), graph.size());
  a.add_int32(schema::attribute::kType, static_cast<int32_t>(AttributeType::graph));
  return out;
}

}  // namespace tenon::import
