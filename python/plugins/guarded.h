// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <exception>
#include <new>

#include "sentence.h"
#include "tenon/plugin.h"

namespace tenon::python {

/// The status of an exception that a plugin's function raised; its text goes to the host. KeyboardInterrupt is raised again when Python
/// code runs again.
inline int32_t status_of(const tenon_host* host, nanobind::python_error& error) {
  const nanobind::object raised = nanobind::borrow(error.value());
  const bool interrupted = PyErr_GivenExceptionMatches(raised.ptr(), PyExc_KeyboardInterrupt) != 0;
  if (interrupted) PyErr_SetInterrupt();
  const bool no_memory = PyErr_GivenExceptionMatches(raised.ptr(), PyExc_MemoryError) != 0;
  const int32_t status = interrupted ? TENON_STOPPED : no_memory ? TENON_OUT_OF_MEMORY : TENON_FAILED;
  return host->fail(host, status, sentence_of(raised).c_str());
}

/// Calls a function of a plugin under the GIL; exceptions become a status and an error text of the host.
template <class Act>
int32_t guarded(const tenon_host* host, Act act) noexcept {
  const nanobind::gil_scoped_acquire acquired;
  try {
    act();
    return TENON_OK;
  } catch (nanobind::python_error& error) { return status_of(host, error); } catch (const std::bad_alloc&) {
    return host->fail(host, TENON_OUT_OF_MEMORY, "memory ran out");
  } catch (const std::exception& error) { return host->fail(host, TENON_FAILED, error.what()); }
}

}  // namespace tenon::python
