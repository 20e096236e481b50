// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/decoder_bench.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

#include "base/threads/thread_pool.h"
#include "cli/bench/figures.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/llm/decoder_report.h"
#include "files/gguf.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kLlama = "llama.cpp";

/// The most sequences, and tokens of one, that a work needs.
DecoderWork most_of(const std::vector<DecoderWork>& works) {
  DecoderWork out;
  for (const DecoderWork& w : works) {
    out.tokens = std::max(out.tokens, w.past + w.tokens);
    out.batch = std::max(out.batch, w.batch);
  }
  return out;
}

/// One engine runs all batches. The cache of a checkpoint has room for what is measured alone: that of a model's whole context, times the
/// batch, can be larger than memory.
EngineOptions engine_options(const EngineOptions& given, const DecoderWork& most) {
  EngineOptions out = given;
  if (most.batch == 1 || given.is_engine()) return out;
  out.model.batch = 0;
  if (out.model.context == 0) out.model.context = most.tokens;
  return out;
}

Result<std::unique_ptr<Peer>> start_peer(const BenchOptions& o, int threads, const files::NamedTensors& work) {
  if (o.peer.empty()) return nullptr;
  return Peer::start({.name = o.peer, .model = o.engine.model.path, .external_data = {}, .threads = threads, .outputs = {}}, work);
}

/// Ours, then the other's, each between two measurements of the peak.
Result<Sample> take_sample(DecoderRuns& runs, const DecoderWork& work, Peer* peer, const MachineLimits& limits) {
  Sample s;
  s.dram.push_back(limits.memory.read());
  take_peaks(s, limits);
  s.ours_ms.push_back(TRY(runs.timed(work)));
  take_peaks(s, limits);
  if (!peer) return s;
  s.other_ms = TRY(peer->run(1));
  take_peaks(s, limits);
  return s;
}

/// The amounts of each work; runs each once.
Result<std::vector<WorkAmounts>> amounts_of(DecoderRuns& runs, const std::vector<DecoderWork>& works) {
  std::vector<WorkAmounts> out;
  for (const DecoderWork& work : works) out.push_back(TRY(runs.amounts(work)));
  return out;
}

/// The limits of the machine for all kinds of products that the works have.
MachineLimits limits_for(const std::vector<WorkAmounts>& amounts, int threads) {
  ByProductKind flops{};
  for (const WorkAmounts& a : amounts)
    for (size_t p = 0; p < kProductKinds; ++p) flops[p] += a.flops[p];
  return {threads, flops};
}

Result<DecoderRow> measure(const BenchOptions& o, DecoderRuns& runs, const DecoderWork& work, const WorkAmounts& amounts, Peer* peer,
                           const MachineLimits& limits, Console& console) {
  console.progress(text_of(work));
  if (peer) {
    TRY(peer->set_inputs(peer_work(runs.tokens(), work, false)));
    TRY(peer->run(1));  // warm-up; ours was in amounts_of
  }
  const auto samples = TRY(take_samples({o.runs, o.seconds}, [&] { return take_sample(runs, work, peer, limits); }, console));
  DecoderRow row{work, figures_of(samples, amounts.flops, amounts.bytes, console)};
  row.kept = std::exchange(row.figures.quiet.samples, {}).size();
  return row;
}

}  // namespace

void DecoderBenchOptions::add_to(CLI::App& app) {
  const auto list = [&app](const char* name, std::vector<int64_t>& values, const char* help) {
    return app.add_option(name, values, help)->type_name("N,N,...")->delimiter(',')->allow_extra_args(false)->check(at_least(1));
  };
  list("--prefill", prefill, "of a language model: tokens/s of prompts of so many tokens, each run by itself");
  app.add_option("--decode", decode, "of a language model: tokens/s of an answer of so many tokens, a run a token")
      ->type_name("N")
      ->check(at_least(1));
  app.add_option("--past", past, "tokens that are in the cache before those of --prefill and --decode run (default: 0)")
      ->type_name("N")
      ->check(at_least(0));
  list("--batch", batch, "sequences of equal lengths that run at once, each number in rows of its own (default: 1)");
}

std::vector<DecoderWork> DecoderBenchOptions::works() const {
  std::vector<DecoderWork> out;
  for (const int64_t sequences : batch.empty() ? std::vector<int64_t>{1} : batch) {
    for (const int64_t tokens : prefill) out.push_back({.past = past, .tokens = tokens, .batch = sequences});
    if (decode > 0) out.push_back({.past = past, .tokens = decode, .decodes = true, .batch = sequences});
  }
  return out;
}

Result<void> check_decoder_options(const BenchOptions& o, const DecoderBenchOptions& d) {
  const bool llama = o.peer == kLlama;
  if (!d.any()) {
    const char* const flag = llama ? "--vs llama.cpp" : d.past > 0 ? "--past" : !d.batch.empty() ? "--batch" : nullptr;
    if (!flag) return {};
    return fail(Code::bad_usage, flag, "it is not said what of a language model is measured")
        .expected("--prefill N,N,... or --decode N")
        .found("neither")
        .advice("add --prefill 128,512 --decode 128");
  }
  if (!o.peer.empty() && !llama)
    return fail(Code::bad_usage, "--vs " + o.peer, "prompts and answers are measured beside llama.cpp alone")
        .expected("--vs llama.cpp")
        .found(o.peer)
        .advice("without --prefill and --decode one run of an ONNX model is measured");
  if (llama && !files::is_gguf(o.engine.model.path))
    return fail(Code::bad_usage, "--vs llama.cpp", "the other engine reads GGUF files alone")
        .expected("a GGUF file")
        .found(o.engine.model.path)
        .advice("give the GGUF file that the model is from");
  return {};
}

Result<void> bench_decoder(const BenchOptions& o, const DecoderBenchOptions& d, Console& console) {
  const std::vector<DecoderWork> works = d.works();
  const DecoderWork most = most_of(works);
  double load_ms = 0;
  const auto engine = TRY(engine_options(o.engine, most).engine(console, &load_ms));
  runtime::RunOptions options = o.engine.run_options();
  const int pool_size = default_thread_pool().size();
  options.threads = options.threads > 0 ? std::min(options.threads, pool_size) : pool_size;
  DecoderRuns runs = TRY(DecoderRuns::create(engine, o.engine.model.path, most, options, o.inputs.seed.value_or(1)));
  console.progress("other engine");
  const auto peer = TRY(start_peer(o, options.threads, peer_work(runs.tokens(), works[0], false)));
  const std::vector<WorkAmounts> amounts = TRY(amounts_of(runs, works));
  const MachineLimits limits = limits_for(amounts, options.threads);
  std::vector<DecoderRow> rows;
  for (size_t k = 0; k < works.size(); ++k) rows.push_back(TRY(measure(o, runs, works[k], amounts[k], peer.get(), limits, console)));
  report_decoder(rows, peer.get(), console);
  const double megabytes = static_cast<double>(engine->programs().weight_bytes) / 1e6;
  console.line(fmt::format("{} threads; load {:.0f} ms; {:.1f} MB of weights{}", options.threads, load_ms, megabytes,
                           peer ? fmt::format("; {} {}, load {:.0f} ms", peer->name, peer->version, peer->load_ms) : ""));
  Json json = {
      {"rows", Json::array()}, {"threads", options.threads}, {"load_ms", load_ms}, {"weight_bytes", engine->programs().weight_bytes}};
  for (const DecoderRow& row : rows) json["rows"].push_back(data_of(row, peer.get()));
  console.object(json);
  return {};
}

}  // namespace tenon::cli
