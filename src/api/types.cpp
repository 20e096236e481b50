// SPDX-License-Identifier: Apache-2.0
#include "base/advice.h"

#include "api/state.h"

namespace tenon::inline v1 {

std::string Error::text() const { return base::Diagnostic{code, place, what, expected, found, advice}.text(); }

Error public_error(const base::Error& e) {
  base::Diagnostic d = base::advised(*e);
  return {d.code, std::move(d.place), std::move(d.what), std::move(d.expected), std::move(d.found), std::move(d.advice)};
}

StopToken::StopToken() : state_(std::make_shared<runtime::StopToken>()) {}
void StopToken::stop() { static_cast<runtime::StopToken*>(state_.get())->stop.store(true, std::memory_order_relaxed); }
void StopToken::reset() { static_cast<runtime::StopToken*>(state_.get())->stop.store(false, std::memory_order_relaxed); }

}  // namespace tenon::inline v1
