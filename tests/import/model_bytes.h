// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "import/onnx_import.h"
#include "import/onnx_schema.h"
#include "import/proto_writer.h"

/// Writes ONNX models for tests, right or wrong, without Tenon's exporter.
namespace tenon::import::testing {

using Writer = protozero::pbf_writer;

/// "x: f32[2,batch]" in ONNX's words: a number is a dim_value, a name a dim_param.
inline std::string value_info(std::string_view name, DType dtype, const std::vector<std::string>& dims) {
  std::string shape, tensor, type, out;
  for (const std::string& d : dims) {
    std::string dim;
    const bool number = !d.empty() && (std::isdigit(static_cast<unsigned char>(d[0])) || d[0] == '-');
    if (number) Writer(dim).add_int64(schema::type::kDimValue, std::stoll(d));
    else if (!d.empty()) Writer(dim).add_string(schema::type::kDimParam, d);
    Writer(shape).add_message(schema::type::kDim, dim);
  }
  Writer t(tensor);
  t.add_int32(schema::type::kElement, static_cast<int32_t>(dtype));
  t.add_message(schema::type::kShape, shape);
  Writer(type).add_message(schema::type::kTensor, tensor);
  Writer v(out);
  v.add_string(schema::value_info::kName, name.data(), name.size());
  v.add_message(schema::value_info::kType, type);
  return out;
}

inline std::string tensor_f32(std::string_view name, const Sizes& shape, std::span<const float> data) {
  std::string out = tensor_head(name, DType::f32, shape);
  Writer(out).add_bytes(schema::tensor::kRawData, reinterpret_cast<const char*>(data.data()), data.size_bytes());
  return out;
}

inline std::string tensor_i64(std::string_view name, const Sizes& shape, std::span<const int64_t> data) {
  std::string out = tensor_head(name, DType::i64, shape);
  Writer(out).add_bytes(schema::tensor::kRawData, reinterpret_cast<const char*>(data.data()), data.size_bytes());
  return out;
}

inline std::string attribute(std::string_view name, ir::Attribute value) { return *attribute_message(name, value); }

inline std::string reference_attribute(std::string_view name, std::string_view of, schema::AttributeType type) {
  std::string out;
  Writer a(out);
  a.add_string(schema::attribute::kName, name.data(), name.size());
  a.add_string(schema::attribute::kRefName, of.data(), of.size());
  a.add_int32(schema::attribute::kType, static_cast<int32_t>(type));
  return out;
}

inline std::string node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                        const std::vector<std::string>& attributes = {}, std::string_view domain = {}, std::string_view name = {}) {
  std::string out;
  Writer n(out);
  for (const auto& i : inputs) n.add_string(schema::node::kInput, i);
  for (const auto& o : outputs) n.add_string(schema::node::kOutput, o);
  n.add_string(schema::node::kName, name.empty() ? "n_" + (outputs.empty() ? std::string(op) : outputs[0]) : std::string(name));
  n.add_string(schema::node::kOpType, op.data(), op.size());
  if (!domain.empty()) n.add_string(schema::node::kDomain, domain.data(), domain.size());
  for (const auto& a : attributes) n.add_message(schema::node::kAttribute, a);
  return out;
}

struct GraphBytes {
  std::string bytes;
  GraphBytes& add(uint32_t field, const std::string& message) {
    Writer(bytes).add_message(field, message);
    return *this;
  }
  GraphBytes& node(const std::string& n) { return add(schema::graph::kNode, n); }
  GraphBytes& input(std::string_view name, DType dtype, const std::vector<std::string>& dims) {
    return add(schema::graph::kInput, value_info(name, dtype, dims));
  }
  GraphBytes& output(std::string_view name, DType dtype, const std::vector<std::string>& dims) {
    return add(schema::graph::kOutput, value_info(name, dtype, dims));
  }
  GraphBytes& initializer(const std::string& tensor) { return add(schema::graph::kInitializer, tensor); }
};

struct FunctionBytes {
  std::string bytes;
  FunctionBytes(std::string_view domain, std::string_view name, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs, const std::vector<std::string>& nodes,
                const std::vector<std::string>& attributes = {}, int64_t opset = 17) {
    Writer f(bytes);
    f.add_string(schema::function::kName, name.data(), name.size());
    f.add_string(schema::function::kDomain, domain.data(), domain.size());
    for (const auto& i : inputs) f.add_string(schema::function::kInput, i);
    for (const auto& o : outputs) f.add_string(schema::function::kOutput, o);
    for (const auto& a : attributes) f.add_string(schema::function::kAttribute, a);
    for (const auto& n : nodes) f.add_message(schema::function::kNode, n);
    f.add_message(schema::function::kOpsetImport, opset_message("", opset));
    f.add_message(schema::function::kOpsetImport, opset_message(domain, 1));
  }
};

inline std::string model(const GraphBytes& graph, int64_t opset = 17, const std::vector<FunctionBytes>& functions = {},
                         int64_t ir_version = 8) {
  std::string out;
  Writer m(out);
  m.add_int64(schema::model::kIrVersion, ir_version);
  m.add_message(schema::model::kOpsetImport, opset_message("", opset));
  m.add_message(schema::model::kGraph, graph.bytes);
  for (const auto& f : functions) m.add_message(schema::model::kFunctions, f.bytes);
  return out;
}

inline Result<Imported> import_bytes(const std::string& bytes, const ImportOptions& options = {}) {
  return import_onnx(std::as_bytes(std::span(bytes)), nullptr, options);
}

}  // namespace tenon::import::testing
