// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/plugin_kit/trial.h"

namespace tenon::cli {

// The checks of `tenon plugin test`; the texts in all_checks() state the property that each function checks.

void check_runs(Trial& trial);
void check_pure(Trial& trial);
void check_inference(Trial& trial);
void check_definition(Trial& trial);
void check_formats(Trial& trial);
void check_tactics(Trial& trial);
void check_canaries(Trial& trial);
void check_written(Trial& trial);
void check_addresses(Trial& trial);
void check_in_place(Trial& trial);
void check_workspace(Trial& trial);
void check_attach(Trial& trial);
void check_save(Trial& trial);
void check_leaks(Trial& trial);
void check_contexts(Trial& trial);
void check_host(Trial& trial);
void check_fields(Trial& trial);

}  // namespace tenon::cli
