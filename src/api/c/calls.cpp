// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/advice.h"
#include "base/exception_error.h"
#include "base/nearest.h"

#include "api/c/calls.h"

namespace tenon::inline v1 {

namespace {

constexpr size_t kLargestStruct = 4096;

/// The error that is returned where memory for an error is lacking; its texts are short enough to need no allocation.
tenon_error& memory_error() {
  static tenon_error made{{base::Code::out_of_memory, "", "memory ran out", "", "", ""}, "memory ran out"};
  return made;
}

int32_t report(const base::Error& error, tenon_error** out) {
  if (out != nullptr) {
    base::Diagnostic parts = base::advised(*error);
    std::string text = parts.text();
    *out = new tenon_error{std::move(parts), std::move(text)};
  }
  return static_cast<int32_t>(error.code());
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

base::Result<void> check_size(size_t size, StructSizes sizes, const char* argument) {
  if (size >= sizes.first && size <= kLargestStruct) return {};
  return refusal(Code::bad_usage, argument, "struct_size is not the size of this struct", std::to_string(sizes.known) + " bytes",
                 std::to_string(size) + " bytes", "set struct_size to sizeof the struct");
}

}  // namespace

int32_t call(tenon_error** error, base::Result<void> (*body)(void* data), void* data) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    try {
      const auto done = body(data);
      return done ? TENON_CODE_OK : report(done.error(), error);
    } catch (...) { return report(base::exception_error(""), error); }
  } catch (...) {
    if (error != nullptr) *error = &memory_error();
    return TENON_CODE_OUT_OF_MEMORY;
  }
}

base::Error inner_error(Error error) {
  return base::fail(error.code, std::move(error.place), std::move(error.what))
      .expected(std::move(error.expected))
      .found(std::move(error.found))
      .advice(std::move(error.advice));
}

base::Error refusal(Code code, std::string_view place, std::string_view what, std::string_view expected, std::string_view found,
                    std::string_view advice) {
  return base::fail(code, std::string(place), std::string(what))
      .expected(std::string(expected))
      .found(std::string(found))
      .advice(std::string(advice));
}

base::Error no_such_name(const std::string& kind, std::string_view name, const std::vector<std::string>& names, Code code) {
  const std::string nearest = base::nearest_name(name, names);
  return refusal(code, kind + " '" + std::string(name) + "'", "there is no such " + kind, joined(names), name,
                 nearest.empty() ? "take one of these names" : "did you mean '" + nearest + "'?");
}

base::Result<void> check_not_null(const void* pointer, const char* argument) {
  if (pointer != nullptr) return {};
  return refusal(Code::bad_usage, argument, "the argument is missing", "a pointer that is not null", "a null pointer",
                 "pass this argument");
}

base::Result<void> check_not_negative(int64_t number, const char* argument) {
  if (number >= 0) return {};
  return refusal(Code::bad_usage, argument, "the number is negative", "0, the default, or more", std::to_string(number), "leave it 0");
}

base::Result<void> copy_from_struct(void* to, const void* from, StructSizes sizes, const char* argument) {
  if (from == nullptr) return {};
  size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  TRY(check_size(size, sizes, argument));
  const auto* const bytes = static_cast<const std::byte*>(from);
  const bool is_known = std::all_of(bytes + std::min(size, sizes.known), bytes + size, [](std::byte b) { return b == std::byte{0}; });
  if (!is_known)
    return refusal(Code::not_supported, argument, "not supported yet: a field after those that this library has",
                   std::to_string(sizes.known) + " bytes, and 0 in what follows", std::to_string(size) + " bytes",
                   "use the library that belongs to this version of tenon/runtime.h");
  std::memcpy(to, from, std::min(size, sizes.known));
  return {};
}

base::Result<void> copy_to_struct(void* to, const void* from, StructSizes sizes, const char* argument) {
  TRY(check_not_null(to, argument));
  size_t size = 0;
  std::memcpy(&size, to, sizeof size);
  TRY(check_size(size, sizes, argument));
  const size_t end = std::min(size, sizes.known);
  std::memcpy(static_cast<std::byte*>(to) + sizeof size, static_cast<const std::byte*>(from) + sizeof size, end - sizeof size);
  return {};
}

}  // namespace tenon::inline v1

extern "C" void tenon_error_free(tenon_error* error) {
  if (error != &tenon::v1::memory_error()) delete error;
}
