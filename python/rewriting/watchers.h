// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "context.h"
#include "rewrite/driver/driver.h"

namespace tenon::python {

/// Who looks on at a run: callables, None where nobody does.
struct Watchers {
  nb::object applied;           ///< called after each rewrite
  nb::object check;             ///< called before each
  rewrite::Check verification;  ///< called before `check`, without the GIL; may be null
};

/// Hooks them into the options. Both must outlive the run.
void set_watchers(rewrite::Options& options, Context& context, const Watchers& watchers);

}  // namespace tenon::python
