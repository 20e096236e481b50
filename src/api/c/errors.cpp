// SPDX-License-Identifier: Apache-2.0
// Versions, names and errors of the C interface.
#include "base/version.h"

#include "api/c/calls.h"

using tenon::v1::Code;
using tenon::v1::DType;

namespace {

constexpr int32_t kMostDType = static_cast<int32_t>(DType::i2);

/// Valid while the error is.
const char* text_of(const tenon_error* error, std::string tenon::base::Diagnostic::* part) {
  return error != nullptr ? (error->parts.*part).c_str() : "";
}

}  // namespace

extern "C" {

uint32_t tenon_runtime_version(void) { return TENON_RUNTIME_VERSION; }
const char* tenon_release(void) { return tenon::kProducer; }

const char* tenon_dtype_name(int32_t dtype) {
  return dtype >= 0 && dtype <= kMostDType ? tenon::v1::name_of(static_cast<DType>(dtype)).data() : "unknown";
}

const char* tenon_code_name(int32_t code) {
  if (code == TENON_CODE_OK) return "ok";
  const auto name = code > 0 && code <= UINT16_MAX ? tenon::v1::name_of(static_cast<Code>(code)) : std::string_view();
  return name.empty() ? "unknown" : name.data();
}

int32_t tenon_error_code(const tenon_error* error) { return error != nullptr ? static_cast<int32_t>(error->parts.code) : TENON_CODE_OK; }
const char* tenon_error_place(const tenon_error* error) { return text_of(error, &tenon::base::Diagnostic::place); }
const char* tenon_error_what(const tenon_error* error) { return text_of(error, &tenon::base::Diagnostic::what); }
const char* tenon_error_expected(const tenon_error* error) { return text_of(error, &tenon::base::Diagnostic::expected); }
const char* tenon_error_found(const tenon_error* error) { return text_of(error, &tenon::base::Diagnostic::found); }
const char* tenon_error_advice(const tenon_error* error) { return text_of(error, &tenon::base::Diagnostic::advice); }
const char* tenon_error_text(const tenon_error* error) { return error != nullptr ? error->text.c_str() : ""; }

}  // extern "C"
