// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/contraction.h"

namespace tenon::codegen {

/// Where the rows operand of a contraction is more than a load: appends what stores it to `copies`, and lets the nest read it there; the
/// array that it is made of, or, where it is made of several, its elements as [batch..., rows..., depth...].
void store_rows_operand(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& copies);
/// Its elements as [batch..., rows..., depth...] in any case.
void store_rows_in_order(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& copies);

}  // namespace tenon::codegen
