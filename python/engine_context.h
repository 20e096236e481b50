// SPDX-License-Identifier: Apache-2.0
// tenon.Context: an engine with states that last between its runs. Uses the public interface alone.
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <map>
#include <mutex>
#include <string>

#include "writable_memory.h"

namespace tenon_python {

struct PyContext {
  /// Raises TenonError.
  explicit PyContext(const tenon::Engine& of);
  PyContext(const tenon::Engine& of, tenon::Context made) : engine(of), context(std::move(made)) {}

  /// Exclusive use by one thread in its scope. Raises TenonError (bad_usage) where another thread uses the context: runs release the GIL.
  class Use {
   public:
    explicit Use(PyContext& context);

   private:
    std::unique_lock<std::mutex> lock_;
  };

  tenon::Engine engine;
  tenon::Context context;
  std::map<std::string, MemoryReader> bound;  ///< memory that is bound to states, by name of the state
  std::mutex in_use;
};

/// Adds all methods but `run`.
void bind_context(nanobind::class_<PyContext>& context);

}  // namespace tenon_python
