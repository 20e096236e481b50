// SPDX-License-Identifier: Apache-2.0
// What TensorRT-LLM's plugins are written with.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "tenon/trt/logging.hpp"
#include "tenon/trt/plugin_v2.hpp"

namespace tenon::trt {

namespace api {
constexpr auto kDefaultNamespace = "tensorrt_llm";
}

/// Keeps a namespace; Interface is one of the second generation.
template <class Interface>
class WithNamespace : public Interface {
 public:
  void setPluginNamespace(char const* libNamespace) noexcept override { mNamespace = libNamespace; }
  [[nodiscard]] char const* getPluginNamespace() const noexcept override { return mNamespace.c_str(); }

 protected:
  std::string mNamespace{api::kDefaultNamespace};
};
class BasePlugin : public WithNamespace<IPluginV2DynamicExt> {};
class BaseCreator : public WithNamespace<IPluginCreator> {};

namespace detail {

/// The bytes that this thread reads or writes a plugin's state from.
struct Blob {
  const char *begin = nullptr, *end = nullptr, *reached = nullptr;
  bool over = false;  ///< something would have been written after the end
  bool holds(const void* p) const {
    const auto at = reinterpret_cast<uintptr_t>(p);
    return begin && at >= reinterpret_cast<uintptr_t>(begin) && at <= reinterpret_cast<uintptr_t>(end);
  }
};
TENON_TRT_OWN inline Blob& blob() {
  thread_local Blob own;
  return own;
}

}  // namespace detail

/// Writes val and moves on. What does not fit the bytes that the plugin requested is left out, and saving fails.
template <typename T>
void write(char*& buffer, T const& val) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain values have bytes of their own");
  detail::Blob& blob = detail::blob();
  if (blob.over || (blob.holds(buffer) && static_cast<size_t>(blob.end - buffer) < sizeof(T))) {
    blob.over = true;
    return;
  }
  std::memcpy(buffer, &val, sizeof(T));
  buffer += sizeof(T);
  if (blob.holds(buffer)) blob.reached = buffer;
}

/// Reads val and moves on. Errors: std::length_error after the end of the engine's bytes.
template <typename T>
void read(char const*& buffer, T& val) {
  static_assert(std::is_trivially_copyable_v<T>, "only plain values have bytes of their own");
  detail::Blob& blob = detail::blob();
  if (blob.holds(buffer) && static_cast<size_t>(blob.end - buffer) < sizeof(T))
    throw std::length_error("the engine keeps " + std::to_string(blob.end - blob.begin) + " bytes, and " + std::to_string(sizeof(T)) +
                            " are wanted at byte " + std::to_string(buffer - blob.begin));
  std::memcpy(&val, buffer, sizeof(T));
  buffer += sizeof(T);
  if (blob.holds(buffer)) blob.reached = buffer;
}

/// Fields by name. They have to outlive it.
class PluginFieldParser {
 public:
  PluginFieldParser(int32_t nbFields, PluginField const* fields) {
    for (int32_t k = 0; k < nbFields; ++k) mRecords.emplace(fields[k].name, Record{&fields[k], false});
  }
  PluginFieldParser(PluginFieldParser const&) = delete;
  PluginFieldParser& operator=(PluginFieldParser const&) = delete;
  /// Warns of fields that were not read.
  ~PluginFieldParser() {
    for (auto const& [name, record] : mRecords)
      if (!record.retrieved)
        getLogger()->log(ILogger::Severity::kWARNING, ("field '" + std::string(name) + "' is given, and nobody reads it").c_str());
  }

  /// None: it is not given. A number of another type is taken where T holds it. Errors: std::invalid_argument, naming the field.
  template <typename T>
  std::optional<T> getScalar(std::string_view const& name) {
    auto const found = mRecords.find(name);
    if (found == mRecords.end()) {
      detail::plugin_messages().missing_field = name;
      return std::nullopt;
    }
    found->second.retrieved = true;
    PluginField const& f = *found->second.field;
    if (f.length != 1 || !f.data) fail(f, "is no scalar");
    if constexpr (std::is_arithmetic_v<T>) return number<T>(f);
    else return plain<T>(f);
  }

 private:
  struct Record {
    PluginField const* field;
    bool retrieved;
  };

  [[noreturn]] static void fail(PluginField const& f, char const* what) {
    throw std::invalid_argument("field '" + std::string(f.name) + "' " + what + ": type " + std::to_string(static_cast<int32_t>(f.type)) +
                                ", length " + std::to_string(f.length));
  }

  /// Dims, or 16-bit floats of a type of the library.
  template <class T>
  static T plain(PluginField const& f) {
    static_assert(std::is_same_v<T, Dims> || sizeof(T) == 2, "fields hold numbers and Dims");
    if (f.type != (std::is_same_v<T, Dims> ? PluginFieldType::kDIMS : PluginFieldType::kFLOAT16)) fail(f, "is of another type");
    T out;
    std::memcpy(&out, f.data, sizeof out);
    return out;
  }

  template <class From, class T>
  static T converted(PluginField const& f) {
    From value;
    std::memcpy(&value, f.data, sizeof value);
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
    else {
      const auto wide = static_cast<long double>(value);
      if (!(wide >= static_cast<long double>(std::numeric_limits<T>::lowest()) &&
            wide <= static_cast<long double>(std::numeric_limits<T>::max()) && std::trunc(wide) == wide))
        fail(f, "does not fit what the plugin reads it as");
      return static_cast<T>(value);
    }
  }

  template <class T>
  static T number(PluginField const& f) {
    switch (f.type) {
      case PluginFieldType::kFLOAT32: return converted<float, T>(f);
      case PluginFieldType::kFLOAT64: return converted<double, T>(f);
      case PluginFieldType::kINT8: return converted<int8_t, T>(f);
      case PluginFieldType::kINT16: return converted<int16_t, T>(f);
      case PluginFieldType::kINT32: return converted<int32_t, T>(f);
      case PluginFieldType::kINT64: return converted<int64_t, T>(f);
      case PluginFieldType::kCHAR: return converted<char, T>(f);
      default: fail(f, "is no number");
    }
  }

  std::unordered_map<std::string_view, Record> mRecords;
};

}  // namespace tenon::trt
