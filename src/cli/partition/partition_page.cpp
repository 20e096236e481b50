// SPDX-License-Identifier: Apache-2.0
#include "cli/partition/partition_page.h"

#include <algorithm>
#include <set>

#include "cli/console/graphviz.h"
#include "cli/console/page.h"
#include "cli/console/page_texts.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

void add_used(const Json& partition, std::set<std::string>& out) {
  for (const Json& node : partition["nodes"]) {
    out.insert(node["backend"]);
    if (node.contains("bodies"))
      for (const Json& body : node["bodies"]) add_used(body, out);
  }
}

/// In order of priority: all that are listed, and of the others those that run something.
Json lanes_of(const Json& answer, const partition::Roles& roles) {
  std::set<std::string> used;
  add_used(answer, used);
  Json out = Json::array();
  for (uint16_t b = 0; b < roles.count(); ++b)
    if (const std::string name(roles.backends[b]->name()); b < roles.listed || used.contains(name)) out.push_back(name);
  return out;
}

}  // namespace

std::string partition_page(const std::string& title, const Json& answer, const partition::Roles& roles) {
  using namespace pages;
  const Json data{{"backends", lanes_of(answer, roles)}, {"partition", answer}};
  return filled_page(partition_html, {{"title", escape_html(title)},
                                      {"style", joined({theme_css, partition_css})},
                                      {"data", script_safe(data)},
                                      {"script", joined({elements_js, partition_graph_js, partition_tables_js, partition_js})}});
}

}  // namespace tenon::cli
