// SPDX-License-Identifier: Apache-2.0
#include "base/advice.h"

#include "api/state.h"

namespace tenon::inline v1 {

// The public numbers are the inner ones.
static_assert(static_cast<int>(DType::i2) == static_cast<int>(base::DType::i2) &&
              static_cast<int>(DType::bf16) == static_cast<int>(base::DType::bf16));
static_assert(static_cast<int>(Code::bad_input) == static_cast<int>(base::Code::bad_input));
static_assert(static_cast<int>(Code::wrong_target) == static_cast<int>(base::Code::wrong_target));

std::string_view name_of(DType dtype) { return base::name_of(static_cast<base::DType>(dtype)); }
std::string_view name_of(Code code) { return base::name_of(static_cast<base::Code>(code)); }

std::string Error::text() const { return base::Diagnostic{static_cast<base::Code>(code), place, what, expected, found, advice}.text(); }

Error public_error(const base::Error& e) {
  base::Diagnostic d = base::advised(*e);
  return {static_cast<Code>(d.code), std::move(d.place), std::move(d.what), std::move(d.expected), std::move(d.found), std::move(d.advice)};
}

StopToken::StopToken() : state_(std::make_shared<runtime::StopToken>()) {}
void StopToken::stop() { static_cast<runtime::StopToken*>(state_.get())->stop.store(true, std::memory_order_relaxed); }
void StopToken::reset() { static_cast<runtime::StopToken*>(state_.get())->stop.store(false, std::memory_order_relaxed); }

}  // namespace tenon::inline v1
