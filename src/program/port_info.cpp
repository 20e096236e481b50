// SPDX-License-Identifier: Apache-2.0
#include "program/port_info.h"

#include "program/bind_sizes.h"
#include "program/least_sizes.h"

namespace tenon::program {

runtime::PortInfo port_info(codegen::ArrayId a, std::string name, const codegen::Plan& plan, const ir::Graph& graph,
                            const SizeTable& sizes) {
  const codegen::Array& array = plan.arrays[a];
  runtime::PortInfo port;
  port.name = std::move(name);
  port.dtype = array.dtype;
  port.container = container_info_of(plan, graph, a);
  for (Dim d : array.shape) {
    port.shape.push_back(sizes.slot(d));
    port.dimensions.push_back(d.text());
    const DimNode* n = d.node();
    const bool is_symbol = n && n->kind == DimNode::Kind::symbol;
    port.lower.push_back(is_symbol ? least_size(*n, plan.assumptions) : d.lower());
    port.upper.push_back(d.upper());
  }
  return port;
}

}  // namespace tenon::program
