// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include "api/state.h"

namespace tenon::inline v1 {

namespace {

const base::Team& inner(const std::shared_ptr<void>& state) {
  return state ? *static_cast<const base::Team*>(state.get()) : base::default_team();
}

}  // namespace

Result<Team> Team::create(const TeamOptions& options) {
  return guarded([&]() -> Result<Team> {
    auto made = base::Team::create(options.threads, options.cpus);
    if (!made) return std::unexpected(public_error(made.error()));
    Team out;
    out.state_ = std::move(*made);
    return out;
  });
}

int Team::threads() const { return inner(state_).size(); }

std::vector<int> Team::cpus() const { return inner(state_).cpus().numbers(); }

}  // namespace tenon::inline v1
