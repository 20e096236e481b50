// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

void check_runs(Trial& trial) {
  for (const auto& [sample, why] : trial.drawn.refused) trial.report(sample, "its sample is refused: " + why);
  if (trial.cases().empty() && trial.drawn.refused.empty()) {
    const auto& first = trial.drawn.refused_drawn;
    trial.report(first ? first->text : std::string(),
                 "no case ran: it refuses what was made up" + (first ? " (" + first->why + ")" : std::string()) + "; give it samples");
  }
  for (const PluginCase& at : trial.cases()) {
    const auto object = trial.object(at);
    if (!object || !trial.op().runs()) continue;
    if (!trial.run(*object, at)) continue;
    const auto loaded = trial.loaded(*object, at);
    if (!loaded) continue;
    const auto attached = loaded->object->attach();
    if (!attached) trial.report(at, "it does not attach", attached.error());
    else trial.run(*attached ? **attached : *loaded->object, at);
  }
}

}  // namespace tenon::cli
