// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Images that others see in their order (inputs and outputs of the graph) are copied into channels-last ones where a convolution over many
/// channels, a depthwise one too, would walk them against that order: it reads and writes neighbouring channels together.
/// Needs: contractions with their epilogues.  Not after `choose_layouts`.  Cost: linear in the groups.
void copy_images(Plan& plan);

}  // namespace tenon::codegen
