// SPDX-License-Identifier: Apache-2.0
#include "base/exception_error.h"

#include <exception>
#include <new>
#include <system_error>

namespace tenon::inline base {

Error exception_error(std::string place) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory, std::move(place), "memory ran out").expected("more memory").found("an allocation that failed");
  } catch (const std::system_error& e) {
    const bool scarce = e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory;
    return fail(scarce ? Code::out_of_memory : Code::internal, std::move(place), "a call of the system failed").found(e.what());
  } catch (const std::exception& e) { return fail(Code::internal, std::move(place), "an exception escaped").found(e.what()); }
}

}  // namespace tenon::inline base
