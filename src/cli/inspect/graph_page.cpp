// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/graph_page.h"

#include "cli/console/graphviz.h"
#include "cli/console/page.h"
#include "cli/console/page_texts.h"
#include "cli/inspect/engine_text.h"
#include "cli/inspect/graph_data.h"

namespace tenon::cli {

using Json = nlohmann::ordered_json;

size_t GraphPage::append(const ir::Graph& graph, const std::string& name, const std::string& entry, const compiler::GroupsOfNodes* groups) {
  const size_t first = graphs_.size(), number = append_graph(graphs_, graph, name, groups);
  for (size_t k = first; k < graphs_.size(); ++k) graphs_[k]["entry"] = entry;
  return number;
}

void GraphPage::add(const ir::Graph& graph, const std::string& name, const std::string& entry) {
  entries_[entry].last = append(graph, name, entry, nullptr);
}

void GraphPage::add_compiled(const ir::Graph& graph, const compiler::PlanRecord& plan, const runtime::Program& program,
                             const std::string& name, const std::string& entry) {
  EntryGraphs& own = entries_[entry];
  const size_t number = append(graph, name, entry, &plan.groups_of_nodes);
  if (own.last) {
    graphs_[number]["before"] = *own.last;
    graphs_[*own.last]["after"] = number;
  }
  own = {number, plan.group_of_step};
  Json& list = graphs_[number]["groups"];
  for (const std::string& kind : plan.groups) list.push_back({{"kind", kind}, {"steps", Json::array()}});
  for (size_t s = 0; s < plan.group_of_step.size(); ++s)
    list[plan.group_of_step[s]]["steps"].push_back({{"runs", runs_text(program, program.steps[s])}, {"computes", program.steps[s].label}});
}

void GraphPage::set_times(std::span<const double> ms_of_steps, const std::string& entry) {
  const EntryGraphs& own = entries_.at(entry);
  Json& list = graphs_[*own.last]["groups"];
  std::vector<size_t> seen(list.size());
  for (size_t s = 0; s < own.group_of_step.size(); ++s) {
    Json& group = list[own.group_of_step[s]];
    group["steps"][seen[own.group_of_step[s]]++]["ms"] = ms_of_steps[s];
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

void add_entries(GraphPage& page, const compiler::Compiled& compiled) {
  const runtime::ProgramTable& programs = compiled.built.programs;
  const std::vector<uint32_t> numbers = runtime::entries_of(programs);
  for (size_t k = 0; k < numbers.size(); ++k)
    page.add_compiled(compiler::graph_of(compiled, k), compiler::plan_record(compiled, k), programs[numbers[k]], "as compiled",
                      programs.programs[numbers[k]].name);
}

void add_entries(GraphPage& page, const compiler::EngineContents& contents, std::string_view only) {
  const std::vector<uint32_t> numbers = contents.programs ? runtime::entries_of(*contents.programs) : std::vector<uint32_t>();
  for (size_t k = 0; k < contents.entries.size(); ++k) {
    const compiler::EntryContents& e = contents.entries[k];
    if (!only.empty() && e.name != only) continue;
    if (e.plan) page.add_compiled(*e.graph, *e.plan, (*contents.programs)[numbers[k]], "as compiled", e.name);
    else page.add(*e.graph, contents.programs ? "as compiled" : "as rewritten", e.name);
  }
}

}  // namespace tenon::cli
