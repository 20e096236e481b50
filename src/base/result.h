// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/types.h"

namespace tenon::inline base {

using v1::Code;
using v1::name_of;

/// 1 bad model or input, 2 bad usage, 3 not supported yet, 70 a bug of Tenon.
int exit_code_of(Code code);

/// One error: every part but `what` may be empty.
struct Diagnostic {
  Code code = Code::internal;
  std::string place;  ///< node, value, file and offset, or operator
  std::string what;
  std::string expected;
  std::string found;
  std::string advice;
  /// "error[TN112] at PLACE: WHAT; expected ..., found ...; try: ..."
  std::string text() const;
};

/// A Diagnostic held by pointer, so that Result<T> stays small.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string place, std::string what)
      : d_(std::make_unique<Diagnostic>(Diagnostic{code, std::move(place), std::move(what), {}, {}, {}})) {}
  Error(const Error& other) : d_(std::make_unique<Diagnostic>(*other.d_)) {}
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  Error& operator=(const Error& other) {
    d_ = std::make_unique<Diagnostic>(*other.d_);
    return *this;
  }

  Error&& expected(std::string text) && {
    d_->expected = std::move(text);
    return std::move(*this);
  }
  Error&& found(std::string text) && {
    d_->found = std::move(text);
    return std::move(*this);
  }
  Error&& advice(std::string text) && {
    d_->advice = std::move(text);
    return std::move(*this);
  }
  /// Sets the place unless the inner code has set it.
  Error&& at(std::string place) && {
    if (d_->place.empty()) d_->place = std::move(place);
    return std::move(*this);
  }
  /// Replaces the place.
  Error&& placed_at(std::string place) && {
    d_->place = std::move(place);
    return std::move(*this);
  }

  const Diagnostic& operator*() const { return *d_; }
  const Diagnostic* operator->() const { return d_.get(); }
  Code code() const { return d_->code; }
  std::string text() const { return d_->text(); }

  template <class T>
  operator std::expected<T, Error>() && {
    return std::unexpected<Error>(std::move(*this));
  }

 private:
  std::unique_ptr<Diagnostic> d_;
};

template <class T = void>
using Result = std::expected<T, Error>;

/// Starts an error: `return fail(Code::rank_mismatch, place, "Gather: ...").expected("...").found("...").advice("...");`
inline Error fail(Code code, std::string place, std::string what) { return Error(code, std::move(place), std::move(what)); }

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace tenon::inline base

/// The value of a Result, or return its error from this function.
#define TRY(...)                                                              \
  ({                                                                          \
    auto&& try_result_ = (__VA_ARGS__);                                       \
    if (!try_result_) return std::unexpected(std::move(try_result_).error()); \
    *std::move(try_result_);                                                  \
  })

/// Checks a condition that only a bug of Tenon violates; in every build type.
#define TENON_ASSERT(condition) ((condition) ? void(0) : ::tenon::base::assertion_failed(#condition, __FILE__, __LINE__))
