// SPDX-License-Identifier: Apache-2.0
// Fields: rules from what a creator advertises, and what it is given from what a node says.
#pragma once
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "tenon/ext/table.hpp"
#include "tenon/trt/registry.hpp"

namespace tenon::trt::detail {

/// Which inputs of a node of the third generation are shape inputs: an attribute that TensorRT's importer of ONNX reads.
constexpr const char* kShapeInputs = "tensorrt_plugin_shape_input_indices";

inline bool same_but_case(const char* a, const char* b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (; *a && *b; ++a, ++b)
    if (lower(*a) != lower(*b)) return false;
  return *a == *b;
}

/// The advertised field of that name; of the second generation also one that differs in case. Null: there is none.
inline PluginField const* advertised(const Creator& creator, const char* name) {
  PluginFieldCollection const* const all = creator.fields();
  PluginField const* near = nullptr;
  for (int32_t k = 0; all && k < all->nbFields; ++k) {
    if (!all->fields[k].name) continue;
    if (std::strcmp(all->fields[k].name, name) == 0) return &all->fields[k];
    if (!creator.is_v3() && same_but_case(all->fields[k].name, name)) near = &all->fields[k];
  }
  return near;
}

/// What is advertised has a name and a type; its length counts only where it has a default.
inline void describe_fields(const Creator& creator, ext::Description& op) {
  PluginFieldCollection const* const all = creator.fields();
  for (int32_t k = 0; all && k < all->nbFields; ++k) {
    PluginField const& f = all->fields[k];
    if (!f.name || advertised(creator, f.name) != &f) continue;
    const auto type = f.type == PluginFieldType::kDIMS ? TENON_FIELD_I64 : static_cast<tenon_field_type>(f.type);  // a list of integers
    const bool has_default = f.data && f.length > 0 && creator.is_v3() && f.type != PluginFieldType::kDIMS;
    const char* otherwise = nullptr;
    if (has_default && type == TENON_FIELD_CHAR)
      otherwise = op.keep(std::string(static_cast<const char*>(f.data), strnlen(static_cast<const char*>(f.data), f.length)));
    const bool is_text = type == TENON_FIELD_CHAR;
    tenon_field_rule& rule = op.rule(f.name, type, has_default && !is_text ? f.length : -1,
                                     is_text       ? otherwise
                                     : has_default ? f.data
                                                   : nullptr);
    rule.optional = 1;
  }
  if (creator.is_v3()) {
    tenon_field_rule& rule = op.rule(kShapeInputs, TENON_FIELD_I64, -1, nullptr);
    rule.optional = 1;
    rule.docs = "which inputs are shape inputs: their values determine sizes of outputs";
  }
  op.op.any_fields = creator.is_v3() ? 0 : 1;
}

/// A collection, with what it points at.
class Fields {
 public:
  /// Of a build: numbers become what the creator advertises, or else 32 bits where they fit. Of a run: as they were saved.
  Fields(const tenon_node& node, const Creator& creator) {
    for (uint32_t k = 0; k < node.field_count; ++k) {
      const tenon_field& f = *node.fields[k];
      if (std::strcmp(f.name, kShapeInputs) == 0) take_shape_inputs(f);
      else if (node.phase == TENON_BUILD) add(f, creator);
      else own_.emplace_back(f.name, f.data, static_cast<PluginFieldType>(f.type), static_cast<int32_t>(f.length));
    }
    collection_ = {static_cast<int32_t>(own_.size()), own_.data()};
  }
  Fields(const Fields&) = delete;
  PluginFieldCollection const* collection() const { return &collection_; }
  std::vector<int64_t> shape_inputs;

 private:
  void take_shape_inputs(const tenon_field& f) {
    if (f.type != TENON_FIELD_I64) throw ext::Error(TENON_BAD_FIELD, std::string(kShapeInputs) + " is no list of integers");
    const auto* const values = static_cast<const int64_t*>(f.data);
    shape_inputs.assign(values, values + f.length);
  }

  void add(const tenon_field& f, const Creator& creator) {
    PluginField const* const hint = advertised(creator, f.name);
    const auto* const integers = static_cast<const int64_t*>(f.data);
    auto type = static_cast<PluginFieldType>(f.type);
    if (type == PluginFieldType::kINT64) {
      bool fits = true;
      for (int64_t k = 0; k < f.length; ++k) fits = fits && integers[k] == static_cast<int32_t>(integers[k]);
      type = hint ? hint->type : fits ? PluginFieldType::kINT32 : type;
    } else if (type == PluginFieldType::kFLOAT32 && hint && is_number(hint->type)) {
      type = hint->type;
    }
    if (type == static_cast<PluginFieldType>(f.type)) {
      own_.emplace_back(f.name, f.data, type, static_cast<int32_t>(f.length));
    } else if (type == PluginFieldType::kDIMS) {
      own_.emplace_back(f.name, dims(f, integers), type, 1);
    } else {
      std::string& bytes = bytes_.emplace_back();
      for (int64_t k = 0; k < f.length; ++k) append(bytes, f, k, type);
      own_.emplace_back(f.name, bytes.data(), type, static_cast<int32_t>(f.length));
    }
  }

  const void* dims(const tenon_field& f, const int64_t* sizes) {
    if (f.length > Dims::MAX_DIMS) throw ext::Error(TENON_BAD_FIELD, "field '" + std::string(f.name) + "' has more than 8 dimensions");
    Dims out{static_cast<int32_t>(f.length), {}};
    std::copy(sizes, sizes + f.length, out.d);
    return bytes_.emplace_back(reinterpret_cast<const char*>(&out), sizeof out).data();
  }

  static bool is_number(PluginFieldType t) {
    return t == PluginFieldType::kFLOAT32 || t == PluginFieldType::kFLOAT64 || t == PluginFieldType::kINT8 ||
           t == PluginFieldType::kINT16 || t == PluginFieldType::kINT32 || t == PluginFieldType::kINT64;
  }

  template <class T>
  static void append_as(std::string& bytes, const tenon_field& f, int64_t index) {
    T value;
    if (f.type == TENON_FIELD_I64) {
      const int64_t given = static_cast<const int64_t*>(f.data)[index];
      value = static_cast<T>(given);
      if (std::is_integral_v<T> && static_cast<int64_t>(value) != given) misfit(f);
    } else {
      const float given = static_cast<const float*>(f.data)[index];
      if (std::is_integral_v<T> && !(given >= -2147483648.0F && given < 2147483648.0F)) misfit(f);
      value = static_cast<T>(given);
      if (std::is_integral_v<T> && static_cast<float>(value) != given) misfit(f);
    }
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  [[noreturn]] static void misfit(const tenon_field& f) {
    throw ext::Error(TENON_BAD_FIELD, "field '" + std::string(f.name) + "' does not fit the type that the creator advertises");
  }

  static void append(std::string& bytes, const tenon_field& f, int64_t index, PluginFieldType type) {
    switch (type) {
      case PluginFieldType::kINT8: return append_as<int8_t>(bytes, f, index);
      case PluginFieldType::kINT16: return append_as<int16_t>(bytes, f, index);
      case PluginFieldType::kINT32: return append_as<int32_t>(bytes, f, index);
      case PluginFieldType::kINT64: return append_as<int64_t>(bytes, f, index);
      case PluginFieldType::kFLOAT32: return append_as<float>(bytes, f, index);
      case PluginFieldType::kFLOAT64: return append_as<double>(bytes, f, index);
      default: misfit(f);
    }
  }

  std::vector<PluginField> own_;
  std::deque<std::string> bytes_;
  PluginFieldCollection collection_;
};

}  // namespace tenon::trt::detail
