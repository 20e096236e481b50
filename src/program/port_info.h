// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "codegen/plan/plan.h"
#include "program/size_table.h"

namespace tenon::program {

/// The name, dtype and shape of an input or output. Its buffer number is not set.
runtime::PortInfo port_info(codegen::ArrayId array, std::string name, const codegen::Plan& plan, const ir::Graph& graph,
                            const SizeTable& sizes);

}  // namespace tenon::program
