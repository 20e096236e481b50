// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/index_named.h"
#include "cli/console/console.h"
#include "cli/console/graphviz.h"
#include "cli/console/verb.h"
#include "cli/inspect/brief_text.h"
#include "cli/inspect/engine_text.h"
#include "cli/inspect/gguf_text.h"
#include "cli/inspect/graph_page.h"
#include "cli/options/model_options.h"
#include "compiler/engine_contents.h"
#include "compiler/read_model.h"
#include "compiler/shapes/requested_shapes.h"
#include "files/atomic_write.h"
#include "files/gguf.h"
#include "ir/dot.h"
#include "ir/text.h"

namespace tenon::cli::verb_inspect {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  ModelOptions model;
  std::string svg, html, entry;
  bool text = false, all_layers = false;
};

/// Counts over a graph and its bodies.
struct Census {
  std::map<std::string, int64_t> ops;
  int64_t nodes = 0, constants = 0, weight_bytes = 0;

  void add(const ir::Graph& graph) {
    for (ir::NodeId id : graph.nodes()) {
      const ir::Node& node = graph.node(id);
      ++nodes;
      ++ops[node.op->domain.empty() ? node.op->name : node.op->domain + "::" + node.op->name];
      for (const ir::Body& body : node.bodies) add(*body.graph);
    }
    for (ir::ValueId id : graph.values()) {
      const ir::Value& value = graph.value(id);
      if (!value.is_constant()) continue;
      ++constants;
      weight_bytes += value.constant->byte_size();
    }
  }

  std::vector<std::pair<std::string, int64_t>> by_count() const {
    std::vector<std::pair<std::string, int64_t>> out(ops.begin(), ops.end());
    std::ranges::sort(out, [](const auto& a, const auto& b) { return std::pair(-a.second, a.first) < std::pair(-b.second, b.first); });
    return out;
  }
};

Json json_of(std::string_view name, const ir::Type& type) {
  Json out = {{"name", name}, {"dtype", type.dtype == DType::none ? "?" : name_of(type.dtype)}, {"shape", nullptr}};
  if (!type.shape) return out;
  out["shape"] = Json::array();
  for (Dim d : *type.shape) {
    if (d.is_number()) out["shape"].push_back(d.value());
    else out["shape"].push_back(d.text());
  }
  return out;
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string default_text(const ir::Value& input) {
  const ir::Constant& c = *input.constant;
  const Result<Tensor> value = c.count() <= kMostShown ? ir::materialise(c) : Result<Tensor>(Tensor());
  return value && !value->empty_handle() ? brief_text(*value) : type_text(c.dtype, c.shape);
}

std::string input_text(const ir::Value& input) { return input.type.text() + (input.has_default() ? " = " + default_text(input) : ""); }

std::vector<std::vector<std::string>> port_rows(const ir::Graph& g) {
  std::vector<std::vector<std::string>> rows = {{"", "name", "type"}};
  for (ir::ValueId id : g.inputs()) rows.push_back({"in", g.value(id).name, input_text(g.value(id))});
  for (uint32_t k = 0; k < g.outputs().size(); ++k) rows.push_back({"out", g.output_name(k), g.value(g.outputs()[k]).type.text()});
  return rows;
}

Json report(const std::string& path, const import::Imported& m, const Census& census) {
  Json out = {{"file", path},
              {"format", m.format == "ONNX" ? "onnx" : m.format},
              {"producer", m.producer},
              {"opsets", Json::object()},
              {"inputs", Json::array()},
              {"outputs", Json::array()}};
  for (const auto& [domain, version] : m.opsets) out["opsets"][domain] = version;
  const ir::Graph& g = *m.graph;
  for (ir::ValueId id : g.inputs()) {
    out["inputs"].push_back(json_of(g.value(id).name, g.value(id).type));
    if (g.value(id).has_default()) out["inputs"].back()["default"] = default_text(g.value(id));
  }
  for (uint32_t k = 0; k < g.outputs().size(); ++k) out["outputs"].push_back(json_of(g.output_name(k), g.value(g.outputs()[k]).type));
  out["nodes"] = census.nodes;
  out["constants"] = census.constants;
  out["weight_bytes"] = census.weight_bytes;
  out["ops"] = Json::object();
  for (const auto& [op, count] : census.by_count()) out["ops"][op] = count;
  return out;
}

std::string headline(const std::string& path, const import::Imported& m, const Census& census) {
  std::string opsets;
  for (const auto& [domain, version] : m.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain.empty() ? "opset" : domain, version);
  const std::string producer = m.producer.empty() ? "" : (m.format == "ONNX" ? " by " : " of the family ") + m.producer;
  return fmt::format("{}: {}{}{}; {} nodes, {} constants of {}", path, m.format, producer, opsets.empty() ? "" : ", " + opsets,
                     census.nodes, census.constants, bytes_text(census.weight_bytes));
}

/// add: puts the graph on the page.
Result<void> draw(const Options& o, const ir::Graph& graph, const std::string& facts, const std::function<void(GraphPage&)>& add,
                  Console& console) {
  if (!o.svg.empty()) {
    console.progress("drawing ...");
    TRY(files::write_file(o.svg, TRY(render_svg(ir::dot(graph, {.collapse = !o.all_layers})))));
  }
  if (o.html.empty()) return {};
  GraphPage page(std::filesystem::path(o.model.path).filename().string());
  page.set_facts(facts);
  add(page);
  return files::write_file(o.html, page.html());
}

std::string facts_of(const Options& o, const compiler::EngineContents& contents) {
  const std::string code = contents.target ? "code for " + std::string(contents.target->title) : "no native code";
  size_t nodes = 0;
  for (const compiler::EntryContents& e : contents.entries)
    if (o.entry.empty() || e.name == o.entry) nodes += e.graph->node_count();
  return fmt::format("{}: engine, {}; {} nodes", o.model.path, code, nodes);
}

/// The graphs that the engine holds, with the groups and kernels of native code; as a picture that of one entry.
Result<void> draw_engine(const Options& o, const std::vector<import::RequestedShape>& shapes, Console& console) {
  if (o.svg.empty() && o.html.empty()) return {};
  const compiler::EngineContents contents = TRY(compiler::read_contents(o.model.path, *TRY(o.model.plugins.plugins()).ops));
  const size_t entry = o.entry.empty() ? 0 : TRY(index_named("entry", "entries", contents.entries, o.entry));
  if (contents.programs)
    TRY(compiler::check_requested(runtime::inputs_of(*contents.programs, runtime::entries_of(*contents.programs)[entry]), shapes,
                                  o.model.path));
  const bool complete = !contents.programs || contents.entries.size() == runtime::entries_of(*contents.programs).size();
  const bool recorded = std::ranges::all_of(contents.entries, [](const compiler::EntryContents& e) { return e.plan.has_value(); });
  if (contents.programs && !recorded && !o.html.empty())
    console.warn("the engine has no record of its plan, so the page shows no groups and no kernels: build the engine again");
  if (!complete && !o.html.empty()) console.warn("the engine has the graph of its first entry alone: build the engine again");
  return draw(
      o, *contents.entries[entry].graph, facts_of(o, contents), [&](GraphPage& page) { add_entries(page, contents, o.entry); }, console);
}

Result<void> inspect(const Options& o, Console& console) {
  const bool shows_graph = !o.svg.empty() || !o.html.empty() || o.text;
  if (files::is_gguf(o.model.path) && !shows_graph) {
    TRY(compiler::check_onnx_options(o.model.path, TRY(o.model.import_options())));
    return inspect_gguf(o.model.path, console);
  }
  if (o.model.is_engine()) {
    const auto shapes = TRY(o.model.import_options()).shapes;
    TRY(draw_engine(o, shapes, console));
    return inspect_engine(o.model.path, {.shapes = shapes, .text = o.text, .entry = o.entry}, console);
  }
  if (!o.entry.empty())
    return fail(Code::bad_usage, "--entry " + o.entry, "a model has one graph, and no entries").expected("an engine").found(o.model.path);
  auto options = TRY(o.model.import_options());
  options.metadata = !o.html.empty();  // the page shows the module of a node
  const import::Imported m = TRY(compiler::read_model(o.model.path, options, TRY(o.model.checkpoint_options())));
  Census census;
  census.add(*m.graph);
  for (const std::string& w : m.warnings) console.warn(w);
  const std::string head = headline(o.model.path, m, census);
  TRY(draw(o, *m.graph, head, [&](GraphPage& page) { page.add(*m.graph, "as exported"); }, console));
  console.line(head);
  console.line();
  console.table(port_rows(*m.graph));
  console.line();
  std::vector<std::vector<std::string>> rows = {{"op", "count"}};
  for (const auto& [op, count] : census.by_count()) rows.push_back({op, std::to_string(count)});
  console.table(rows);
  if (o.text) console.line("\n" + ir::print(*m.graph));
  console.object(report(o.model.path, m, census));
  return {};
}

}  // namespace

VERB(inspect) {
    .summary = "describe a model, a checkpoint or an engine: inputs, outputs, ops, weights, kernels, memory, pictures",
    .examples =
        "  tenon inspect model.onnx\n"
        "  tenon inspect model.onnx --shape ids=1x128 --text\n"
        "  tenon inspect model.onnx --html graph.html\n"
        "  tenon inspect model.onnx --json | jq .ops\n"
        "  tenon inspect model.tenon --html compiled.html\n"
        "  tenon inspect model.gguf\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->model.add_to(app, "an ONNX model, a GGUF file or an engine");
      app.add_option("--entry", o->entry, "of an engine with several entries: show that one alone (--svg draws one: the first)")
          ->type_name("NAME");
      app.add_option("--svg", o->svg, "write the graph as a picture (needs Graphviz)")->type_name("OUT");
      app.add_option("--html", o->html,
                     "write the graph as an interactive HTML page; of an engine, the graphs of all entries with their kernels")
          ->type_name("OUT");
      app.add_flag("--all-layers", o->all_layers, "--svg: draw repeated layers one by one");
      app.add_flag("--text", o->text, "print the graph in its text form; of an engine its steps too");
      return [o](Console& console) { return inspect(*o, console); };
    },
};

}  // namespace tenon::cli::verb_inspect
