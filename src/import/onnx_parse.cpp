// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_parse.h"

#include <fmt/format.h>

namespace tenon::import {

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const {
  for (const OnnxAttribute& a : attributes)
    if (a.name == attribute) return &a;
  return nullptr;
}

Error OnnxParser::over(std::string_view what, int64_t limit, const char* at) const {
  return fail(Code::limit_exceeded, place.text(at), fmt::format("the model has too many or too large {}", what))
      .expected(fmt::format("at most {}", limit))
      .found("more")
      .advice("raise the limit in the import options if the model is trusted");
}

Result<void> OnnxParser::count(int64_t& used, int64_t limit, std::string_view what, const char* at) {
  if (++used > limit) return over(what, limit, at);
  return {};
}

Result<std::string_view> OnnxParser::name(ProtoReader& reader) const {
  std::string_view text = TRY(reader.bytes());
  if (static_cast<int64_t>(text.size()) > limits.name_bytes) return over("names (bytes)", limits.name_bytes, text.data());
  return text;
}

Result<void> OnnxParser::append_dim(std::vector<int64_t>& dims, ProtoReader& reader) const {
  bool too_many = false;
  TRY(reader.integers([&](int64_t size) {
    if (static_cast<int>(dims.size()) < limits.rank) dims.push_back(size);
    else too_many = true;
  }));
  if (too_many) return over("dimensions", limits.rank, reader.position());
  return {};
}

Result<void> OnnxParser::read(OnnxModel& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::model::kIrVersion: out.ir_version = TRY(m.integer()); break;
      case schema::model::kProducerName: out.producer = TRY(name(m)); break;
      case schema::model::kProducerVersion: out.producer_version = TRY(name(m)); break;
      case schema::model::kOpsetImport: TRY(append(out.opsets, m)); break;
      case schema::model::kFunctions: TRY(append(out.functions, m)); break;
      case schema::model::kGraph: TRY(read(out.graph, TRY(m.bytes()))); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxOpset& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::opset::kDomain: out.domain = plain_domain(TRY(name(m))); break;
      case schema::opset::kVersion: out.version = TRY(m.integer()); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxGraph& out, std::string_view message) {
  DepthGuard level(depth), body(graphs);
  if (depth > limits.message_depth) return over("levels of messages", limits.message_depth, message.data());
  if (graphs > limits.graph_depth) return over("levels of graphs", limits.graph_depth, message.data());
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::graph::kName: out.name = TRY(name(m)); break;
      case schema::graph::kNode: TRY(append(out.nodes, m)); break;
      case schema::graph::kInitializer:
        TRY(count(values, limits.values, "values", message.data()));
        TRY(append(out.initializers, m));
        break;
      case schema::graph::kSparseInitializer: TRY(append(out.sparse_initializers, m)); break;
      case schema::graph::kInput:
        TRY(count(values, limits.values, "values", message.data()));
        TRY(append(out.inputs, m));
        break;
      case schema::graph::kOutput: TRY(append(out.outputs, m)); break;
      case schema::graph::kValueInfo: TRY(append(out.value_info, m)); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxFunction& out, std::string_view message) {
  DepthGuard level(depth);
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::function::kName: out.name = TRY(name(m)); break;
      case schema::function::kDomain: out.domain = plain_domain(TRY(name(m))); break;
      case schema::function::kOverload: out.overload = TRY(name(m)); break;
      case schema::function::kInput: out.inputs.push_back(TRY(name(m))); break;
      case schema::function::kOutput: out.outputs.push_back(TRY(name(m))); break;
      case schema::function::kAttribute: out.attributes.push_back(TRY(name(m))); break;
      case schema::function::kAttributeProto: TRY(append(out.defaults, m)); break;
      case schema::function::kNode: TRY(append(out.nodes, m)); break;
      case schema::function::kOpsetImport: TRY(append(out.opsets, m)); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxNode& out, std::string_view message) {
  DepthGuard level(depth);
  TRY(count(nodes, limits.nodes, "nodes", message.data()));
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::node::kName: out.name = TRY(name(m)); break;
      case schema::node::kOpType: out.op = TRY(name(m)); break;
      case schema::node::kDomain: out.domain = plain_domain(TRY(name(m))); break;
      case schema::node::kOverload: out.overload = TRY(name(m)); break;
      case schema::node::kInput: out.inputs.push_back(TRY(name(m))); break;
      case schema::node::kOutput:
        TRY(count(values, limits.values, "values", message.data()));
        out.outputs.push_back(TRY(name(m)));
        break;
      case schema::node::kAttribute: TRY(append(out.attributes, m)); break;
      case schema::node::kMetadata: out.metadata.push_back(TRY(m.bytes())); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<OnnxModel> parse_onnx(std::string_view bytes, std::string_view file, const OnnxLimits& limits) {
  OnnxParser parser{.place = {file, bytes.data()}, .limits = limits};
  OnnxModel model;
  TRY(parser.read(model, bytes));
  if (model.opsets.empty() || model.ir_version < 0 || (model.ir_version == 0 && model.graph.nodes.empty()))
    return fail(Code::bad_file, std::string(file), "not an ONNX model")
        .expected("an IR version or nodes, and at least one opset import")
        .found(bytes.empty() ? "an empty file" : fmt::format("IR version {}, {} opset imports", model.ir_version, model.opsets.size()))
        .advice("give an .onnx file in ONNX's binary form; packed files, text and other formats are not read");
  return model;
}

}  // namespace tenon::import
