// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx_parse.h"

namespace tenon::import {

using schema::AttributeType;

Result<void> OnnxParser::read(Entry& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::entry::kKey: out.first = TRY(name(m)); break;
      case schema::entry::kValue: out.second = TRY(name(m)); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxTensor& out, std::string_view message) {
  ProtoReader m(place, message);
  out.message = message;
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::tensor::kDims: TRY(append_dim(out.dims, m)); break;
      case schema::tensor::kDataType: out.dtype = TRY(m.integer()); break;
      case schema::tensor::kName: out.name = TRY(name(m)); break;
      case schema::tensor::kRawData: out.raw = TRY(m.bytes()); break;
      case schema::tensor::kDataLocation: out.external = TRY(m.integer()) == 1; break;
      case schema::tensor::kSegment:
        out.segmented = true;
        TRY(m.skip());
        break;
      case schema::tensor::kExternalData: TRY(read(out.entries.emplace_back(), TRY(m.bytes()))); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxSparse& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::sparse_tensor::kValues: TRY(read(out.values, TRY(m.bytes()))); break;
      case schema::sparse_tensor::kIndices: TRY(read(out.indices, TRY(m.bytes()))); break;
      case schema::sparse_tensor::kDims: TRY(append_dim(out.dims, m)); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read(OnnxAttribute& out, std::string_view message) {
  DepthGuard level(depth);
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::attribute::kName: out.name = TRY(name(m)); break;
      case schema::attribute::kRefName: out.reference = TRY(name(m)); break;
      case schema::attribute::kType: out.type = static_cast<AttributeType>(TRY(m.integer())); break;
      default: TRY(read_value(out, m));
    }
  }
  if (!out.graph && !out.tensor && !out.sparse && static_cast<int64_t>(message.size()) > limits.attribute_bytes)
    return over("attribute values (bytes)", limits.attribute_bytes, message.data());
  return {};
}

namespace {

/// The type that a field for values implies, where an old writer left `type` out; undefined for other fields.
AttributeType type_of_field(uint32_t field) {
  switch (field) {
    case schema::attribute::kFloat: return AttributeType::number;
    case schema::attribute::kInt: return AttributeType::integer;
    case schema::attribute::kString: return AttributeType::string;
    case schema::attribute::kFloats: return AttributeType::floats;
    case schema::attribute::kInts: return AttributeType::ints;
    case schema::attribute::kStrings: return AttributeType::strings;
    case schema::attribute::kTensor: return AttributeType::tensor;
    case schema::attribute::kSparseTensor: return AttributeType::sparse_tensor;
    case schema::attribute::kGraph: return AttributeType::graph;
    case schema::attribute::kTypeProto: return AttributeType::type_proto;
    default: return AttributeType::undefined;
  }
}

}  // namespace

Result<void> OnnxParser::read_value(OnnxAttribute& out, ProtoReader& m) {
  const AttributeType seen = type_of_field(m.field());
  switch (seen) {
    case AttributeType::number: out.number = TRY(m.number()); break;
    case AttributeType::integer: out.integer = TRY(m.integer()); break;
    case AttributeType::string: out.string = TRY(m.bytes()); break;
    case AttributeType::floats: TRY(m.fixed<float>([&](float v) { out.floats.push_back(v); })); break;
    case AttributeType::ints: TRY(m.integers([&](int64_t v) { out.ints.push_back(v); })); break;
    case AttributeType::strings: out.strings.push_back(TRY(m.bytes())); break;
    case AttributeType::tensor: TRY(read(*(out.tensor = std::make_unique<OnnxTensor>()), TRY(m.bytes()))); break;
    case AttributeType::sparse_tensor: TRY(read(*(out.sparse = std::make_unique<OnnxSparse>()), TRY(m.bytes()))); break;
    case AttributeType::graph: TRY(read(*(out.graph = std::make_unique<OnnxGraph>()), TRY(m.bytes()))); break;
    case AttributeType::type_proto: TRY(read_type(out.value_type.emplace(), TRY(m.bytes()), OnnxType::Kind::tensor)); break;
    default: TRY(m.skip());
  }
  if (out.type == AttributeType::undefined) out.type = seen;
  return {};
}

Result<void> OnnxParser::read(OnnxValueInfo& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::value_info::kName: out.name = TRY(name(m)); break;
      case schema::value_info::kType: TRY(read_type(out.type, TRY(m.bytes()), OnnxType::Kind::tensor)); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

namespace {

/// The kind of a type that is the element type (in protobuf field `field`) of a type of kind `kind`.
OnnxType::Kind nested(OnnxType::Kind kind, uint32_t field) {
  const bool sequence = field == schema::type::kSequence;
  if (kind == OnnxType::Kind::tensor) return sequence ? OnnxType::Kind::sequence : OnnxType::Kind::optional;
  return kind == OnnxType::Kind::optional && sequence ? OnnxType::Kind::optional_sequence : OnnxType::Kind::other;
}

}  // namespace

/// `kind`: the container of the inner tensor type. A sequence of sequences (or the like) is `other`: stored nowhere.
Result<void> OnnxParser::read_type(OnnxType& out, std::string_view message, OnnxType::Kind kind) {
  DepthGuard level(depth);
  if (depth > limits.message_depth) return over("levels of messages", limits.message_depth, message.data());
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    const uint32_t field = m.field();
    if (field == schema::type::kTensor) {
      out.kind = kind;
      TRY(read_tensor_type(out, TRY(m.bytes())));
    } else if ((field == schema::type::kSequence || field == schema::type::kOptional) && nested(kind, field) != OnnxType::Kind::other) {
      out.kind = OnnxType::Kind::other;
      ProtoReader inner(place, TRY(m.bytes()));
      while (TRY(inner.next())) {
        if (inner.field() == schema::type::kElement) TRY(read_type(out, TRY(inner.bytes()), nested(kind, field)));
        else TRY(inner.skip());
      }
    } else if (field == schema::type::kMap && (kind == OnnxType::Kind::tensor || kind == OnnxType::Kind::sequence)) {
      TRY(read_map_type(out, TRY(m.bytes())));
      if (kind == OnnxType::Kind::sequence && out.kind == OnnxType::Kind::map) out.kind = OnnxType::Kind::sequence_of_maps;
    } else {
      if (field >= schema::type::kSequence && field <= schema::type::kOptional && field != 6) out.kind = OnnxType::Kind::other;
      TRY(m.skip());
    }
  }
  return {};
}

/// A map to anything else than tensors is `other`.
Result<void> OnnxParser::read_map_type(OnnxType& out, std::string_view message) {
  OnnxType value;
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::type::kKey: out.key = TRY(m.integer()); break;
      case schema::type::kValue: TRY(read_type(value, TRY(m.bytes()), OnnxType::Kind::tensor)); break;
      default: TRY(m.skip());
    }
  }
  out.element = value.element;
  out.kind = value.kind == OnnxType::Kind::tensor ? OnnxType::Kind::map : OnnxType::Kind::other;
  return {};
}

Result<void> OnnxParser::read_tensor_type(OnnxType& out, std::string_view message) {
  ProtoReader m(place, message);
  while (TRY(m.next())) {
    switch (m.field()) {
      case schema::type::kElement: out.element = TRY(m.integer()); break;
      case schema::type::kShape: TRY(read_shape(out, TRY(m.bytes()))); break;
      default: TRY(m.skip());
    }
  }
  return {};
}

Result<void> OnnxParser::read_shape(OnnxType& out, std::string_view message) {
  ProtoReader m(place, message);
  out.shape.emplace();
  while (TRY(m.next())) {
    if (m.field() != schema::type::kDim) {
      TRY(m.skip());
      continue;
    }
    if (static_cast<int>(out.shape->size()) >= limits.rank) return over("dimensions", limits.rank, message.data());
    OnnxDim& dim = out.shape->emplace_back();
    ProtoReader d(place, TRY(m.bytes()));
    while (TRY(d.next())) {
      if (d.field() == schema::type::kDimValue) dim.value = TRY(d.integer());
      else if (d.field() == schema::type::kDimParam) dim.param = TRY(name(d));
      else TRY(d.skip());
    }
  }
  return {};
}

}  // namespace tenon::import
