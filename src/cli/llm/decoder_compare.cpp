// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/decoder_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/judge.h"
#include "base/threads/thread_pool.h"
#include "cli/bench/peer.h"
#include "cli/compare/in_precision.h"
#include "cli/console/console.h"
#include "cli/llm/decoder_runs.h"
#include "cli/options/step_inputs.h"
#include "compiler/read_model.h"
#include "files/gguf.h"
#include "ops/reference/stateful_run.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kTokens = 16;

/// The errors of one engine's logits, f32[tokens, vocabulary], against the reference.
struct LogitErrors {
  std::string engine;
  double rms = 0, largest = 0;
  int64_t same = 0;  ///< tokens after which the likeliest one is the reference's
};

LogitErrors errors_of(std::string engine, const Tensor& logits, std::span<const double> reference) {
  LogitErrors out{.engine = std::move(engine)};
  const std::span<const float> found = logits.as<float>();
  const size_t vocabulary = static_cast<size_t>(logits.shape()[1]);
  double squares = 0;
  for (size_t row = 0; row < found.size(); row += vocabulary) {
    const auto theirs = reference.subspan(row, vocabulary);
    const auto ours = found.subspan(row, vocabulary);
    for (size_t k = 0; k < vocabulary; ++k) {
      const double off = std::abs(ours[k] - theirs[k]);
      squares += off * off;
      out.largest = std::max(out.largest, std::isnan(off) ? INFINITY : off);
    }
    out.same += std::ranges::max_element(ours) - ours.begin() == std::ranges::max_element(theirs) - theirs.begin();
  }
  out.rms = std::sqrt(squares / static_cast<double>(found.size()));
  return out;
}

/// Standard deviation around each row's mean: softmax takes no notice of that.
double deviation(std::span<const double> logits, size_t vocabulary) {
  double squares = 0;
  for (size_t row = 0; row < logits.size(); row += vocabulary) {
    double sum = 0;
    for (size_t k = 0; k < vocabulary; ++k) sum += logits[row + k];
    const double mean = sum / static_cast<double>(vocabulary);
    for (size_t k = 0; k < vocabulary; ++k) squares += (logits[row + k] - mean) * (logits[row + k] - mean);
  }
  return std::sqrt(squares / static_cast<double>(logits.size()));
}

/// The tokens: those of a file, or random ones. Errors: bad_input (another shape; none; one that is outside of the vocabulary).
Result<std::vector<int64_t>> given_tokens(const DecoderComparison& c, const runtime::Engine& engine, int64_t vocabulary) {
  if (c.inputs.files.empty()) return std::vector<int64_t>();
  auto inputs = TRY(StepInputs::make(c.inputs, engine.inputs(), {}));
  const Tensor given = TRY(inputs.next()).at(0);
  std::vector<int64_t> out = integers_of(given);
  const auto wrong = std::ranges::find_if(out, [&](int64_t token) { return token < 0 || token >= vocabulary; });
  if (given.dtype() != DType::i64 || given.rank() != 2 || given.shape()[0] != 1 || out.empty() || wrong != out.end())
    return fail(Code::bad_input, "input 'tokens'", "the file has no tokens of this model")
        .expected(fmt::format("i64[1,tokens] of numbers from 0 to {}", vocabulary - 1))
        .found(wrong != out.end() ? std::to_string(*wrong) : type_text(given));
  if (c.tokens && *c.tokens != static_cast<int64_t>(out.size()))
    return fail(Code::bad_usage, "--tokens", "the file has another number of tokens")
        .expected(std::to_string(out.size()))
        .found(std::to_string(*c.tokens))
        .advice("leave --tokens out");
  return out;
}

/// [tokens, vocabulary], of the graph that has the logits of all tokens. at_once: tokens that one run takes.
Result<Tensor> reference_logits(const ir::Graph& graph, const Tensor& tokens, ops::Mode mode, int64_t at_once) {
  ops::EvaluateOptions options;
  options.mode = mode;
  ops::StatefulRun run(options);
  std::optional<Tensor> out;
  for (int64_t done = 0; done < tokens.count();) {
    const int64_t count = std::min(at_once, tokens.count() - done);
    const auto chunk = tokens.as<int64_t>().subspan(static_cast<size_t>(done), static_cast<size_t>(count));
    const Tensor logits = TRY(run.step(graph, std::array{Tensor::of_i64({1, count}, chunk)})).at(0);
    const int64_t vocabulary = logits.shape().back();
    if (!out) out = TRY(Tensor::make(logits.dtype(), {tokens.count(), vocabulary}));
    std::memcpy(out->mutable_data() + bytes_of(out->dtype(), done * vocabulary), logits.data(), bytes_of(out->dtype(), logits.count()));
    done += count;
  }
  return *std::move(out);
}

/// The peer's logits for the tokens; `shape` is the expected one.
Result<Tensor> peer_logits(const DecoderComparison& c, const Tensor& tokens, const Sizes& shape) {
  const int threads = c.engine.threads > 0 ? c.engine.threads : default_thread_pool().size();
  const DecoderWork work{.tokens = tokens.count(), .decodes = true};
  const auto peer = TRY(Peer::start({.name = c.with, .model = c.engine.model.path, .external_data = {}, .threads = threads, .outputs = {}},
                                    peer_work(tokens, work, true)));
  std::vector<Tensor> out = TRY(peer->outputs());
  if (out.size() == 1 && out[0].dtype() == DType::f32 && out[0].shape() == shape) return std::move(out[0]);
  return fail(Code::device_failed, c.with, "the other engine's logits are of another type")
      .expected(type_text(DType::f32, shape))
      .found(out.empty() ? "none" : type_text(out[0]));
}

Json report(const std::vector<LogitErrors>& engines, int64_t tokens, double logit_deviation, Console& console) {
  std::vector<std::vector<std::string>> rows{{"engine", "rms error", "largest", "same likeliest token"}};
  Json list = Json::array();
  for (const LogitErrors& e : engines) {
    rows.push_back({e.engine, fmt::format("{:.3g}", e.rms), fmt::format("{:.3g}", e.largest), fmt::format("{} of {}", e.same, tokens)});
    list.push_back({{"name", e.engine},
                    {"rms_error", e.rms},
                    {"largest_error", std::isfinite(e.largest) ? Json(e.largest) : Json("inf")},
                    {"same_likeliest", e.same},
                    {"likeliest_agreement", static_cast<double>(e.same) / static_cast<double>(tokens)}});
  }
  console.line(
      fmt::format("logits of {} tokens, of standard deviation {:.3g}; errors to fp64 of the same weights:", tokens, logit_deviation));
  console.table(rows);
  return list;
}

/// Judges the largest difference as for other models (is_bad). Errors: device_failed.
Result<void> verdict(const Distance& ours, double rounding) {
  if (!is_bad(ours, rounding)) return {};
  return fail(Code::device_failed, "output 'logits'", "the result is further from the fp64 reference than rounding explains")
      .expected(fmt::format("an error of {:.3g} at most; rounding every node's result makes {:.3g}", ours.bound, rounding))
      .found(ours.found)
      .advice("--steps 4 compares outputs and states step by step, and searches the first bad value");
}

/// The model compiled, with the tokens that are compared.
Result<DecoderRuns> runs_of(const DecoderComparison& c, const compiler::CompileOptions& options, Console& console) {
  auto imported = TRY(c.engine.model.import());
  for (const std::string& w : imported.warnings) console.warn(w);
  const auto engine =
      TRY(compiler::load_compiled(TRY(compiled({std::move(imported.graph), std::move(imported.unbounded)}, options, console))));
  const auto given = TRY(given_tokens(c, *engine, TRY(llm::decoder_interface(*engine, c.engine.model.path)).vocabulary));
  const int64_t count = given.empty() ? c.tokens.value_or(kTokens) : static_cast<int64_t>(given.size());
  auto out = TRY(DecoderRuns::create(engine, c.engine.model.path, {.tokens = count}, c.engine.run_options(), c.inputs.seed.value_or(1)));
  if (!given.empty()) out.set_tokens(given);
  return out;
}

/// The decoder with the logits of all tokens, which the evaluator computes in one run. Its cache rounds as the model's does, or not at all.
Result<std::unique_ptr<ir::Graph>> reference_graph(const DecoderComparison& c, bool rounds) {
  compiler::CheckpointOptions options = TRY(c.engine.model.checkpoint_options());
  options.config.all_logits = true;
  if (!rounds) options.kv = nn::CacheType::f32;
  return std::move(TRY(compiler::read_model(c.engine.model.path, TRY(c.engine.model.import_options()), options)).graph);
}

/// The difference of the logits that rounding every node's result causes, rounding operands of products, and storing the cache in another
/// type than f32.
Result<double> rounding_of(const DecoderComparison& c, const ProductRounding& operands, const DecoderRuns& runs, const Tensor& reference) {
  const auto graph = TRY(in_precision(*TRY(reference_graph(c, true)), operands));
  return distance(TRY(reference_logits(*graph, runs.tokens(), ops::Mode::declared, runs.most_tokens())), reference).largest;
}

}  // namespace

bool is_checkpoint(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) || files::is_gguf(path);
}

Result<void> compare_decoder(const DecoderComparison& c, Console& console) {
  const auto options = TRY(c.engine.compile_options(console));
  DecoderRuns runs = TRY(runs_of(c, options, console));
  const int64_t count = runs.tokens().count();
  const Tensor ours = TRY(runs.logits({.tokens = count, .decodes = true}));
  std::optional<Tensor> theirs;
  if (c.with != "reference") {
    console.progress(c.with);
    theirs = TRY(peer_logits(c, runs.tokens(), ours.shape()));
  }
  console.progress("reference");
  const auto graph = TRY(reference_graph(c, false));
  const Tensor reference = TRY(reference_logits(*graph, runs.tokens(), ops::Mode::wide, runs.most_tokens()));
  const std::vector<double> numbers = numbers_of(reference);
  std::vector<LogitErrors> engines{errors_of("tenon", ours, numbers)};
  if (theirs) engines.push_back(errors_of(c.with, *theirs, numbers));
  const ProductRounding rounded{options.precision, options.activations};
  const Distance distance = tenon::distance(ours, reference, bound_of(rounded));
  double rounding = 0;
  if (distance.bound_ratio > 1) rounding = TRY(rounding_of(c, rounded, runs, reference));
  const double logit_deviation = deviation(numbers, static_cast<size_t>(ours.shape()[1]));
  Json rows = report(engines, count, logit_deviation, console);
  console.object({{"verdict", is_bad(distance, rounding) ? "bad" : "good"},
                  {"with", c.with},
                  {"precision", codegen::name_of(options.precision)},
                  {"activations", codegen::name_of(options.activations)},
                  {"tokens", count},
                  {"logit_deviation", logit_deviation},
                  {"engines", std::move(rows)}});
  return verdict(distance, rounding);
}

}  // namespace tenon::cli
