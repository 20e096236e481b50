// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

void check_runs(Trial& trial) {
  for (const auto& [sample, why] : trial.drawn.refused) trial.found(sample, "its sample is refused: " + why);
  if (trial.cases().empty() && trial.drawn.refused.empty())
    trial.found(std::string(), "it takes no operands that could be made up: give it samples");
  for (const PluginCase& at : trial.cases()) {
    const auto object = trial.object(at);
    if (!object || !trial.op().runs()) continue;
    if (!trial.run(*object, at)) continue;
    const auto saved = object->save(at.fields);
    if (!saved) {
      trial.found(at, "it does not save", saved.error());
      continue;
    }
    const auto loaded = create_at(trial.op(), at, TENON_RUN, *saved);
    if (!loaded) {
      trial.found(at, "it makes no object of what it saved", loaded.error());
      continue;
    }
    const auto attached = (*loaded)->attach();
    if (!attached) trial.found(at, "it does not attach", attached.error());
    else trial.run(*attached ? **attached : **loaded, at);
  }
}

}  // namespace tenon::cli
