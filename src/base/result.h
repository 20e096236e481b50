// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::inline base {

/// What went wrong. The hundreds digit groups codes by who has to act; values are stable for ever.
enum class Code : uint16_t {
  // The model, a file or an input is wrong (exit code 1).
  bad_file = 100,        ///< not the format that it claims to be, or damaged
  file_missing = 101,    ///< cannot be opened
  file_unsafe = 102,     ///< external data outside the model's folder, a link, not a regular file
  limit_exceeded = 103,  ///< a stated limit on bytes, nodes, rank, nesting, time
  size_overflow = 104,   ///< a size does not fit 63 bits
  bad_graph = 110,       ///< cycles, duplicate names, unknown values
  bad_attribute = 111,
  shape_mismatch = 112,
  dtype_mismatch = 113,
  rank_mismatch = 114,
  axis_out_of_range = 115,
  index_out_of_range = 116,
  bad_input = 120,     ///< an input at run time has a wrong name, dtype or shape
  bad_rule = 130,      ///< a rule's text does not parse or breaks types
  write_failed = 140,  ///< disk full, no permission
  out_of_memory = 150,
  wrong_target = 151,  ///< engine made for another CPU, format or version
  cancelled = 160,
  deadline = 161,
  device_failed = 170,
  // The command line is wrong (exit code 2).
  bad_usage = 200,
  // Not there yet (exit code 3).
  not_supported = 300,
  // Our own bug (exit code 70).
  internal = 700,
};

std::string_view name_of(Code code);
/// 1 bad model or input, 2 bad usage, 3 not supported yet, 70 our own bug.
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

/// A Diagnostic behind one pointer, so that Result<T> stays small on the good road.
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
  /// Fills the place where the inner code did not know it.
  Error&& at(std::string place) && {
    if (d_->place.empty()) d_->place = std::move(place);
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

/// Our own bug, in every build type.
#define TENON_ASSERT(condition) ((condition) ? void(0) : ::tenon::base::assertion_failed(#condition, __FILE__, __LINE__))
