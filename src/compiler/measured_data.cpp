// SPDX-License-Identifier: Apache-2.0
#include "compiler/measured_data.h"

namespace tenon::compiler {

nlohmann::ordered_json measured_data(std::span<const plugin::MeasuredNode> nodes) {
  auto out = nlohmann::ordered_json::array();
  for (const plugin::MeasuredNode& n : nodes) {
    auto candidates = nlohmann::ordered_json::array();
    for (const plugin::MeasuredNode::Candidate& c : n.candidates)
      candidates.push_back(
          {{"name", c.name}, {"us", c.ns ? nlohmann::ordered_json(*c.ns / 1e3) : nlohmann::ordered_json()}, {"dropped", c.dropped}});
    out.push_back({{"plugin", n.plugin},
                   {"node", n.node},
                   {"call", n.call},
                   {"nodes", n.nodes},
                   {"chosen", n.candidates.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(n.candidates[n.chosen].name)},
                   {"candidates", candidates},
                   {"note", n.note}});
  }
  return out;
}

}  // namespace tenon::compiler
