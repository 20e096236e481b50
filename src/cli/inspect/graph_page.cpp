// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/graph_page.h"

#include "cli/console/graphviz.h"
#include "cli/console/page.h"
#include "cli/console/page_texts.h"
#include "cli/inspect/engine_text.h"
#include "cli/inspect/graph_data.h"

namespace tenon::cli {

using Json = nlohmann::ordered_json;

size_t GraphPage::append_graph(const ir::Graph& graph, const std::string& name) { return last_ = cli::append_graph(graphs_, graph, name); }

void GraphPage::add_compiled(const ir::Graph& graph, const compiler::PlanRecord& plan, const runtime::Program& program,
                             const std::string& name) {
  const bool has_before = !graphs_.empty();
  const size_t before = last_;
  last_ = cli::append_graph(graphs_, graph, name, &plan.groups_of_nodes);
  if (has_before) {
    graphs_[last_]["before"] = before;
    graphs_[before]["after"] = last_;
  }
  Json& list = graphs_[last_]["groups"];
  for (const std::string& kind : plan.groups) list.push_back({{"kind", kind}, {"steps", Json::array()}});
  group_of_step_ = plan.group_of_step;
  for (size_t s = 0; s < group_of_step_.size(); ++s)
    list[group_of_step_[s]]["steps"].push_back({{"runs", runs_text(program, program.steps[s])}, {"computes", program.steps[s].label}});
}

void GraphPage::set_times(std::span<const double> ms_of_steps) {
  Json& list = graphs_[last_]["groups"];
  std::vector<size_t> seen(list.size());
  for (size_t s = 0; s < group_of_step_.size(); ++s) {
    Json& group = list[group_of_step_[s]];
    group["steps"][seen[group_of_step_[s]]++]["ms"] = ms_of_steps[s];
    group["ms"] = group.value("ms", 0.0) + ms_of_steps[s];
  }
}

std::string GraphPage::html() const {
  using namespace pages;
  const Json data{{"title", title_}, {"graphs", graphs_}};
  return filled_page(page_html,
                     {{"title", escape_html(title_)},
                      {"facts", escape_html(facts_)},
                      {"style", joined({theme_css, page_css})},
                      {"data", script_safe(data)},
                      {"script", joined({elements_js, view_js, layout_js, columns_js, draw_js, panel_js, page_js, controls_js})}});
}

}  // namespace tenon::cli
