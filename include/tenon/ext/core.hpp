// SPDX-License-Identifier: Apache-2.0
// Errors, sizes and fields of tenon/plugin.hpp.
#pragma once
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tenon/plugin.h"

namespace tenon::ext {

/// What a function throws to return another status than TENON_FAILED, as every other exception does.
class Error : public std::runtime_error {
 public:
  Error(tenon_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  tenon_status status() const { return status_; }

 private:
  tenon_status status_;
};

/// A function of the host returned another status than TENON_OK: it has kept a text of its own.
class HostError : public std::exception {
 public:
  explicit HostError(int32_t status) : status(status) {}
  const char* what() const noexcept override { return "a function of the host failed"; }
  int32_t status;
};

/// The library's own: hidden, as the loader joins equally named statics of several libraries.
__attribute__((visibility("hidden"))) inline const tenon_host*& host() {
  static const tenon_host* table = nullptr;
  return table;
}

inline void log(tenon_severity severity, const std::string& text) { host()->log(host(), severity, text.c_str()); }

/// Calls; converts what it throws to a status and a text.
template <class Function>
int32_t guarded(Function&& call) noexcept {
  try {
    call();
    return TENON_OK;
  } catch (const HostError& e) { return e.status; } catch (const Error& e) {
    return host()->fail(host(), e.status(), e.what());
  } catch (const std::bad_alloc&) { return host()->fail(host(), TENON_OUT_OF_MEMORY, "no memory"); } catch (const std::exception& e) {
    return host()->fail(host(), TENON_FAILED, e.what());
  } catch (...) { return host()->fail(host(), TENON_FAILED, "an exception that is no std::exception"); }
}

// ---- Sizes ------------------------------------------------------------------------------------------------------------------------

class Dim;
Dim operation(tenon_dim_operation op, Dim a, Dim b);

/// A size that may not be known yet.
class Dim {
 public:
  Dim(int64_t number) : handle_(host()->dim(host(), number)) {}
  static Dim of(tenon_dim handle) { return Dim(handle, 0); }
  tenon_dim handle() const { return handle_; }
  std::optional<int64_t> number() const {
    int64_t n = 0;
    return host()->dim_number(host(), handle_, &n) ? std::optional(n) : std::nullopt;
  }
  friend Dim operation(tenon_dim_operation op, Dim a, Dim b) { return of(host()->dim_of(host(), op, a.handle_, b.handle_)); }
  friend Dim operator+(Dim a, Dim b) { return operation(TENON_ADD, a, b); }
  friend Dim operator-(Dim a, Dim b) { return operation(TENON_SUBTRACT, a, b); }
  friend Dim operator*(Dim a, Dim b) { return operation(TENON_MULTIPLY, a, b); }
  /// Rounded down.
  friend Dim operator/(Dim a, Dim b) { return operation(TENON_FLOOR_DIVIDE, a, b); }
  friend Dim ceil_div(Dim a, Dim b) { return operation(TENON_CEIL_DIVIDE, a, b); }
  friend Dim min(Dim a, Dim b) { return operation(TENON_MIN, a, b); }
  friend Dim max(Dim a, Dim b) { return operation(TENON_MAX, a, b); }
  /// Whether they are equal at every run; false where that is unknown.
  friend bool surely_equal(Dim a, Dim b) { return operation(TENON_EQUAL, a, b).number() == 1; }

 private:
  Dim(tenon_dim handle, int) : handle_(handle) {}
  tenon_dim handle_;
};

/// The type of an operand or a result before a run.
struct Type {
  int32_t dtype = TENON_NO_DTYPE;
  std::vector<Dim> sizes;
};

class Inference {
 public:
  explicit Inference(tenon_inference& own) : results(own.result_count), own_(own) {}
  uint32_t operand_count() const { return own_.operand_count; }
  bool has(uint32_t k) const { return k < own_.operand_count && own_.operands[k]->dtype != TENON_NO_DTYPE; }
  /// Errors: an operand that is missing, or of unknown rank.
  Type operand(uint32_t k) const {
    if (!has(k)) throw Error(TENON_NOT_SUPPORTED, "operand " + std::to_string(k) + " is missing");
    const tenon_type& t = *own_.operands[k];
    if (t.rank < 0) throw Error(TENON_NOT_SUPPORTED, "the rank of operand " + std::to_string(k) + " is not known");
    Type out{t.dtype, {}};
    for (int32_t axis = 0; axis < t.rank; ++axis) out.sizes.push_back(Dim::of(t.sizes[axis]));
    return out;
  }
  /// What the host says of it, with data and constant.
  const tenon_type& raw(uint32_t k) const { return *own_.operands[k]; }
  Type& result(uint32_t k) { return results.at(k); }
  Dim sized_by_data(Dim most) const { return Dim::of(own_.sized_by_data(&own_, most.handle())); }

  void finish() const {
    for (uint32_t k = 0; k < results.size(); ++k) {
      tenon_type& out = *own_.results[k];
      if (results[k].sizes.size() > TENON_MAX_RANK) throw Error(TENON_FAILED, "a result has too many dimensions");
      out.dtype = results[k].dtype;
      out.rank = static_cast<int32_t>(results[k].sizes.size());
      for (size_t axis = 0; axis < results[k].sizes.size(); ++axis) out.sizes[axis] = results[k].sizes[axis].handle();
    }
  }
  std::vector<Type> results;

 private:
  tenon_inference& own_;
};

// ---- Fields -----------------------------------------------------------------------------------------------------------------------

template <class T>
constexpr int32_t field_type_of() {
  if constexpr (std::is_same_v<T, float>) return TENON_FIELD_F32;
  else if constexpr (std::is_same_v<T, double>) return TENON_FIELD_F64;
  else if constexpr (std::is_same_v<T, int8_t>) return TENON_FIELD_I8;
  else if constexpr (std::is_same_v<T, int16_t>) return TENON_FIELD_I16;
  else if constexpr (std::is_same_v<T, int32_t>) return TENON_FIELD_I32;
  else if constexpr (std::is_same_v<T, char>) return TENON_FIELD_CHAR;
  else if constexpr (std::is_same_v<T, unsigned char>) return TENON_FIELD_BYTES;
  else {
    static_assert(std::is_same_v<T, int64_t>, "fields hold float, double, int8_t to int64_t, char or unsigned char");
    return TENON_FIELD_I64;
  }
}

/// What the node, or the engine, says to the constructor.
class Node {
 public:
  explicit Node(const tenon_node& own) : own_(own) {}
  const char* name() const { return own_.name; }
  bool is_build() const { return own_.phase == TENON_BUILD; }
  /// Null: it is not given.
  const tenon_field* find(std::string_view name) const {
    for (uint32_t k = 0; k < own_.field_count; ++k)
      if (own_.fields[k]->name == name) return own_.fields[k];
    return nullptr;
  }
  template <class T>
  T get(std::string_view name) const {
    return list<T>(name, 1)[0];
  }
  template <class T>
  std::vector<T> list(std::string_view name, int64_t length = -1) const {
    const tenon_field* const f = find(name);
    const std::string text = "field '" + std::string(name) + "' ";
    if (!f) throw Error(TENON_BAD_FIELD, text + "is missing");
    if (f->type != field_type_of<T>() || (length >= 0 && f->length != length))
      throw Error(TENON_BAD_FIELD, text + "is of type " + std::to_string(f->type) + " and length " + std::to_string(f->length));
    const T* const data = static_cast<const T*>(f->data);
    return f->length > 0 ? std::vector<T>(data, data + f->length) : std::vector<T>();
  }
  std::string text(std::string_view name) const {
    const std::vector<char> data = list<char>(name);
    return std::string(data.begin(), data.end());
  }

 private:
  const tenon_node& own_;
};

class Saver {
 public:
  explicit Saver(const tenon_saver& own) : own_(own) {}
  void put(const tenon_field& field) const {
    if (const int32_t status = own_.put(&own_, &field); status != TENON_OK) throw HostError(status);
  }
  template <class T>
  void put(const char* name, const std::vector<T>& values) const {
    put({sizeof(tenon_field), name, field_type_of<T>(), static_cast<int64_t>(values.size()), values.data()});
  }
  template <class T>
  void put(const char* name, const T& value) const {
    put({sizeof(tenon_field), name, field_type_of<T>(), 1, &value});
  }
  void put(const char* name, const std::string& value) const {
    put({sizeof(tenon_field), name, TENON_FIELD_CHAR, static_cast<int64_t>(value.size()), value.data()});
  }

 private:
  const tenon_saver& own_;
};

}  // namespace tenon::ext
