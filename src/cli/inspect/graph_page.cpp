// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/graph_page.h"

#include "cli/console/graphviz.h"
#include "cli/inspect/engine_text.h"
#include "cli/inspect/graph_data.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;
#include "tenon/page_texts.inc"

const char* name_of(codegen::GroupKind kind) {
  switch (kind) {
    case codegen::GroupKind::nests: return "loops";
    case codegen::GroupKind::contract: return "contraction";
    case codegen::GroupKind::attention: return "attention";
    case codegen::GroupKind::segment: return "on another backend";
    case codegen::GroupKind::sizes: return "sizes";
    case codegen::GroupKind::control: return "control flow";
    case codegen::GroupKind::check: return "index check";
  }
  return "unknown";
}

/// JSON whose texts cannot end the script element that it stands in.
std::string script_safe(std::string_view json) {
  std::string out;
  for (const char c : json)
    if (c == '<') out += "\\u003c";
    else out += c;
  return out;
}

/// The template with each @word@ replaced.
std::string filled(std::string_view text, const std::unordered_map<std::string_view, std::string>& words) {
  std::string out;
  while (true) {
    const size_t begin = text.find('@'), end = begin == text.npos ? begin : text.find('@', begin + 1);
    out += text.substr(0, begin);
    if (end == text.npos) return out;
    out += words.at(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

size_t GraphPage::append_graph(const ir::Graph& graph, const std::string& name) { return last_ = cli::append_graph(graphs_, graph, name); }

void GraphPage::add_compiled(const compiler::Compiled& compiled, const std::string& name) {
  const GroupsOfNodes groups = groups_of_nodes(compiled.plan);
  const bool has_before = !graphs_.empty();
  const size_t before = last_;
  last_ = cli::append_graph(graphs_, *compiled.graph, name, &groups);
  if (has_before) {
    graphs_[last_]["before"] = before;
    graphs_[before]["after"] = last_;
  }
  Json& list = graphs_[last_]["groups"];
  for (const codegen::Group& g : compiled.plan.groups) list.push_back({{"kind", name_of(g.kind)}, {"steps", Json::array()}});
  group_of_step_ = compiled.built.group_of_step;
  for (size_t s = 0; s < group_of_step_.size(); ++s) {
    const runtime::Step& step = compiled.built.program.steps[s];
    list[group_of_step_[s]]["steps"].push_back({{"runs", runs_text(compiled.built.program, step)}, {"computes", step.label}});
  }
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
  const Json data{{"title", title_}, {"graphs", graphs_}};
  return filled(page_html, {{"title", escape_html(title_)},
                            {"facts", escape_html(facts_)},
                            {"style", std::string(page_css)},
                            {"data", script_safe(data.dump(-1, ' ', false, Json::error_handler_t::replace))},
                            {"script", std::string(view_js) + std::string(layout_js) + std::string(columns_js) + std::string(draw_js) +
                                           std::string(panel_js) + std::string(page_js) + std::string(controls_js)}});
}

}  // namespace tenon::cli
