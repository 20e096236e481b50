// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.h"
#include "rewrite/driver/driver.h"

namespace tenon::python {

/// Callables that a run calls; None: none.
struct RunHooks {
  nb::object applied;           ///< called after each rewrite
  nb::object check;             ///< called before each rewrite
  rewrite::Check verification;  ///< called before `check`, without the GIL; may be null
};

/// Installs the hooks in the options. Hooks and context must outlive the run.
void install_hooks(rewrite::Options& options, Context& context, const RunHooks& watchers);

}  // namespace tenon::python
