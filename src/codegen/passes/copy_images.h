// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Copies images whose order is fixed (inputs and outputs of the graph) to or from channels-last images, where a convolution over many
/// channels accesses them: it reads and writes neighbouring channels together. Needs: contractions with their epilogues.  Not after
/// `choose_layouts`.  Cost: linear in the groups.
void copy_images(Plan& plan);

}  // namespace tenon::codegen
