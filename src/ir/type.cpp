// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

namespace tenon::ir {

bool Type::is_static() const {
  if (!shape) return false;
  for (Dim d : *shape) {
    if (!d.is_number()) return false;
  }
  return true;
}

static std::string tensor_text(const Type& type) {
  std::string out(type.dtype == DType::none ? "?" : name_of(type.dtype));
  if (!type.shape) return type.dtype == DType::none ? out : out + "[*]";
  out += '[';
  for (size_t i = 0; i < type.shape->size(); ++i) {
    if (i) out += ',';
    out += (*type.shape)[i].text();
  }
  return out + ']';
}

static std::string map_text(const Type& type) {
  return "map(" + std::string(name_of(type.key)) + "," + std::string(name_of(type.dtype)) + ")";
}

std::string Type::text() const {
  switch (kind) {
    case Kind::tensor: return tensor_text(*this);
    case Kind::sequence: return "seq(" + tensor_text(*this) + ")";
    case Kind::optional: return "optional(" + tensor_text(*this) + ")";
    case Kind::map: return map_text(*this);
    case Kind::sequence_of_maps: return "seq(" + map_text(*this) + ")";
    case Kind::optional_sequence: return "optional(seq(" + tensor_text(*this) + "))";
  }
  return {};
}

}  // namespace tenon::ir
