// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"
#include "tenon/runtime.h"

/// An error and its message.
struct tenon_error {
  tenon::base::Diagnostic parts;
  std::string text;
};

namespace tenon::inline v1 {

/// Calls `body` with `data`. Returns 0 or the code of its error; the error, or an exception that it throws, goes to *error, which the
/// caller frees.
int32_t call(tenon_error** error, base::Result<void> (*body)(void* data), void* data) noexcept;

/// Runs the body of a function of the C interface. TRY is not used inside a `new` expression: its early return would leak the memory.
template <class Body>
int32_t call(tenon_error** error, Body body) noexcept {
  return call(error, [](void* data) -> base::Result<void> { return (*static_cast<Body*>(data))(); }, &body);
}

/// An error of the public C++ interface as a base::Error.
base::Error inner_error(Error error);
/// A result of the public C++ interface as a base::Result.
template <class T>
base::Result<T> inner(Result<T> result) {
  if (!result) return inner_error(std::move(result.error()));
  if constexpr (std::is_void_v<T>) return {};
  else return std::move(*result);
}

/// An error with all its parts. Not inline: that keeps callers small.
base::Error refusal(Code code, std::string_view place, std::string_view what, std::string_view expected, std::string_view found,
                    std::string_view advice);

/// The error that there is no item of that name among `names`; names the nearest. kind: "output".
base::Error no_such_name(const std::string& kind, std::string_view name, const std::vector<std::string>& names, Code code);

/// Errors: bad_usage for a null pointer. argument: its name, for the error.
base::Result<void> check_not_null(const void* pointer, const char* argument);
/// Errors: bad_usage for a negative number. argument: its name, for the error.
base::Result<void> check_not_negative(int64_t number, const char* argument);

/// The size of a struct in version 1 of the header; no caller has a smaller one. A struct that later grows gets a specialisation with its
/// first size.
template <class T>
inline constexpr size_t kFirstSize = sizeof(T);

/// Sizes of a struct of the C interface: in version 1 of the header (`first`), and in this library (`known`).
struct StructSizes {
  size_t first, known;
};
template <class T>
inline constexpr StructSizes kSizes = {kFirstSize<T>, sizeof(T)};

/// Copies the fields that a caller's struct has, by its `size`; none for a null pointer. Errors: bad_usage for a size below `first` or an
/// absurd one; not_supported where a byte beyond `known` is not 0.
base::Result<void> copy_from_struct(void* to, const void* from, StructSizes sizes, const char* argument);
/// Copies to a caller's struct the fields that it has, but not its `size`. Errors: bad_usage for a null pointer or a bad size.
base::Result<void> copy_to_struct(void* to, const void* from, StructSizes sizes, const char* argument);

template <class T>
base::Result<T> read_struct(const T* from, const char* argument) {
  T out{};
  TRY(copy_from_struct(&out, from, kSizes<T>, argument));
  return out;
}

template <class T>
base::Result<void> write_struct(T* to, const T& from, const char* argument) {
  return copy_to_struct(to, &from, kSizes<T>, argument);
}

}  // namespace tenon::inline v1
