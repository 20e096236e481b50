// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include "base/version.h"
#include "cli/bench/explanation_report.h"
#include "cli/bench/figures.h"
#include "cli/bench/figures_report.h"
#include "cli/bench/serve.h"
#include "cli/bench/session.h"
#include "cli/bench/trace.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/option_groups.h"
#include "cli/console/verb.h"
#include "cli/llm/decoder_bench.h"
#include "files/atomic_write.h"

namespace tenon::cli::verb_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint32_t kProfiledRuns = 20;

/// None where none is requested.
Result<std::optional<files::AtomicFile>> file_for(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return TRY(files::AtomicFile::create(path));
}

/// Requested files, opened before minutes of measuring that they could not keep.
struct Pictures {
  std::optional<files::AtomicFile> trace, html;

  Result<void> draw(BenchSession& b, const BenchFigures& f, const Profile& profile, const std::vector<double>& flops) {
    if (trace) {
      TRY(trace->append(chrome_trace(b.program(), profile, flops)));
      TRY(trace->commit());
    }
    if (html) {
      b.views.page->set_facts(fmt::format("{:.4g} ms at {}, {} threads", f.median_ms, shapes_text(b), b.options.threads));
      b.views.page->set_times(step_times(b.program(), profile), b.engine->entries()[b.entry].name);
      TRY(html->append(b.views.page->html()));
      TRY(html->commit());
    }
    return {};
  }
};

Result<Json> explained(const BenchSession& b, const Profile& profile, Console& console) {
  const CurrentMachine here = TRY(current_machine(b.options.threads));
  return report_explanation(TRY(b.views.explanation->kernels(*b.engine, b.inputs, profile, here.machine, b.entry)), here, console);
}

/// One of several engines that another process measures by turns.
Result<void> serve_model(const BenchOptions& o, Console& console) {
  BenchSession b = TRY(prepare_session(o, console));
  const auto flops = flops_of_steps(b.program(), b.context->sizes());
  const ByProductKind work = flops_by_products(b.program(), flops);
  const double weight_bytes = weight_bytes_read(b.program(), b.context->sizes(), flops);
  std::optional<MachineLimits> made;  // made on first use: until then the process holds what a run needs
  const auto limits = [&]() -> const MachineLimits& { return made ? *made : made.emplace(b.options.threads, work); };
  const auto append = [](const ByProductKind& each, double last) {
    std::vector<double> out(each.begin(), each.end());
    out.push_back(last);
    return out;
  };
  return serve({.ready = fmt::format("{:.6f} {:.6f} {}", b.load_ms, b.first_ms, kProducer),
                .work = append(work, weight_bytes),
                .run = [&](int count, bool cold) { return b.runs(count, cold ? &limits().memory : nullptr); },
                .outputs = [&] { return b.run(); },
                .limits = [&] { return append(limits().peaks.measure(), limits().memory.read()); }},
               std::cin, std::cout);
}

Result<void> bench_model(const BenchOptions& o, Console& console) {
  if (o.serve) return serve_model(o, console);
  Pictures pictures{TRY(file_for(o.trace)), TRY(file_for(o.html))};
  BenchSession b = TRY(prepare_session(o, console));
  const auto flops = flops_of_steps(b.program(), b.context->sizes());
  const ByProductKind work = flops_by_products(b.program(), flops);
  const MachineLimits limits(b.options.threads, work);
  const auto samples = TRY(take_samples(o, b, limits, console));
  const double weight_bytes = weight_bytes_read(b.program(), b.context->sizes(), flops);
  const BenchFigures f = figures_of(samples, work, weight_bytes, console);
  console.progress("profile");
  const uint32_t runs = static_cast<uint32_t>(std::clamp(3000 / f.median_ms, 2.0, static_cast<double>(kProfiledRuns)));
  const Profile profile = TRY(tenon::cli::profile(*b.context, b.inputs, b.options, runs, b.entry));
  TRY(pictures.draw(b, f, profile, flops));
  report_own(b, f, console);
  Json json = json_of(b, f, weight_bytes, o.cold);
  json["kernels"] = report_kernels(kernel_times(b.program(), profile, flops), console);
  if (b.views.explanation) json["explained"] = TRY(explained(b, profile, console));
  json["vs"] = b.peer ? TRY(report_peer(b, f, console)) : Json(nullptr);
  console.object(json);
  return {};
}

/// Makes options for tokens of language models exclude options for runs on inputs.
void exclude_options_of_runs(CLI::App& app) {
  for (const char* of_decoder : {"--prefill", "--decode"})
    for (const char* of_run : {"--input", "--entry", "--cold", "--explain", "--serve", "--trace", "--html"})
      app.get_option(of_decoder)->excludes(app.get_option(of_run));
}

}  // namespace

VERB(bench) {
    .summary = "measure the speed of a model or an engine, alone or compared with another inference engine",
    .examples =
        "  tenon bench model.onnx\n"
        "  tenon bench model.tenon --threads 1 --trace trace.json     (open it in chrome://tracing or ui.perfetto.dev)\n"
        "  tenon bench model.onnx --shape ids=1x128 --vs onnxruntime\n"
        "  tenon bench model.onnx --html graph.html                   (the time of each kernel, in a picture of the graph)\n"
        "  tenon bench model.tenon --explain                          (why each kernel takes its time; first: tenon calibrate)\n"
        "  tenon bench model.onnx --vs openvino --cold                (caches evicted before each run, for both)\n"
        "  tenon bench model.onnx --input batch.npz --runs 60 --seconds 120 --json\n"
        "  tenon bench model.gguf --prefill 128,512 --decode 128 --vs llama.cpp\n"
        "  tenon bench model.gguf --decode 128 --past 4096            (an answer behind 4,096 tokens)\n"
        "  tenon bench model.gguf --decode 128 --batch 1,4,16         (answers to so many sequences at once, a token of each in a run)\n"
        "\nA sample is 20 ms of runs back to back, between two measurements of the FMA peak; samples during which the machine was\n"
        "disturbed are dropped and taken again, three times as many as requested at most. With --vs a sample is a pair, taken in turns;\n"
        "the other engine computes in fp32 on as many threads, and is made for the inputs' shapes alone where --shape is given.\n"
        "torch is PyTorch on the model as onnx2pytorch converts it, under torch.compile where that works; what it needs is in\n"
        "tools/requirements-torch.txt. The share of memory's rate counts each weight as read once a run: above 100 % weights stay\n"
        "in the caches. The share of the peak counts products of bf16 and int8 at the peaks of their own instructions; above 100 % the\n"
        "machine was busy while the peak was measured. p50, p95 and p99 are over all runs of the samples that were kept.\n"
        "Each run of a model with states begins at their initial values, which are set outside of what is measured.\n"
        "--prefill and --decode measure a language model (a GGUF file, a Hugging Face folder, an engine of either) on random tokens: a\n"
        "sample is one prompt or one answer, and --seconds is the time of each row. The share of memory's rate counts weights and the rows of\n"
        "the cache that are read. llama.cpp runs the same tokens, with its standard cache of f16: tools/requirements-llama.txt.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<BenchOptions>();
      o->engine.add_to(app);
      o->engine.model.plugins.add_embedded_to(app, o->engine.model.path);
      o->engine.add_check_memory_to(app);
      o->inputs.add_to(app);
      app.add_option("--entry", o->entry, "what to measure of an engine with several entries (default: its first one)")->type_name("NAME");
      app.add_option("--vs", o->peer, "compare with this engine, which runs in a process of its own, alternately")
          ->check(CLI::IsMember({"onnxruntime", "openvino", "torch", "llama.cpp"}));
      auto decoder = std::make_shared<DecoderBenchOptions>();
      decoder->add_to(app);
      app.add_flag("--cold", o->cold, "evict the caches before each run, as if other work ran in between");
      app.add_flag("--explain", o->explain, "print for each kernel the measured time, the predicted time and the limiting resource");
      app.add_flag("--serve", o->serve, "execute commands from stdin, by the protocol of tools/bench/peer_bench.py (used by ./dev bench)");
      app.add_option("--trace", o->trace, "write a chrome trace of some runs")->type_name("OUT");
      app.add_option(
             "--html", o->html,
             "write the graph before and after as a page to look around in, with the time of each kernel; of an engine, after, with all its entries")
          ->type_name("OUT");
      app.add_option("--runs", o->runs, "how many samples to take")->check(between(1, 100000))->capture_default_str();
      app.add_option("--seconds", o->seconds, "stop taking samples after this time")->check(more_than_zero())->capture_default_str();
      group_options(app, kDebugOptions, {"--serve"});
      exclude_options_of_runs(app);
      return [o, decoder](Console& console) -> Result<void> {
        TRY(check_decoder_options(*o, *decoder));
        return decoder->any() ? bench_decoder(*o, *decoder, console) : bench_model(*o, console);
      };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_bench
