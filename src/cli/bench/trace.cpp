// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/trace.h"

#include <algorithm>
#include <unordered_map>

#include <nlohmann/json.hpp>

namespace tenon::cli {
namespace {

std::string label_of(const runtime::Step& step) {
  if (!step.label.empty()) return step.label;
  return runtime::is<runtime::SizesStep>(step) ? "sizes" : "unnamed";
}

double rate(double flops, double ms) { return ms > 0 ? flops / ms / 1e6 : 0; }

}  // namespace

Result<Profile> profile(runtime::Context& context, std::span<const Tensor> inputs, const runtime::RunOptions& options, uint32_t runs,
                        size_t entry) {
  Profile out;
  out.runs = runs;
  const auto start = std::chrono::steady_clock::now();
  const auto us = [](auto duration) { return std::chrono::duration<double, std::micro>(duration).count(); };
  for (uint32_t run = 0; run < runs; ++run) {
    runtime::RunOptions watched = options;
    watched.on_step = [&](uint32_t step, auto begin, auto end) { out.events.push_back({run, step, us(begin - start), us(end - begin)}); };
    context.reset();
    TRY(context.run(inputs, watched, entry));
  }
  return out;
}

std::vector<double> flops_of_steps(const runtime::Program& program, std::span<const int64_t> sizes) {
  std::vector<double> flops;
  for (const runtime::Step& s : program.steps) {
    const auto* const kernel = runtime::as<runtime::KernelStep>(s);
    flops.push_back(kernel ? static_cast<double>(sizes[kernel->flops]) : 0);
  }
  return flops;
}

ByProductKind flops_by_products(const runtime::Program& program, std::span<const double> flops) {
  ByProductKind out{};
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* const kernel = runtime::as<runtime::KernelStep>(program.steps[s]);
    const DType factors = kernel ? kernel->factors : DType::f32;
    const ProductKind products = factors == DType::bf16 ? ProductKind::bf16 : factors == DType::i8 ? ProductKind::bytes : ProductKind::f32;
    out[static_cast<size_t>(products)] += flops[s];
  }
  return out;
}

double weight_bytes_read(const runtime::Program& program, std::span<const int64_t> sizes, std::span<const double> flops) {
  std::unordered_map<uint32_t, double> read;
  for (size_t s = 0; s < program.steps.size(); ++s)
    for (uint32_t b : program.steps[s].buffers) {
      while (b != runtime::kMissing && program.buffers[b].kind == runtime::BufferInfo::Kind::alias) b = program.buffers[b].index;
      if (b == runtime::kMissing || program.buffers[b].kind != runtime::BufferInfo::Kind::weight) continue;
      double elements = 1;
      for (const runtime::Slot slot : program.buffers[b].shape) elements *= static_cast<double>(sizes[slot]);
      const double bytes = std::min(elements, flops[s]) * bits_of(program.buffers[b].dtype) / 8;
      read[b] = std::max(read[b], bytes);
    }
  double total = 0;
  for (const auto& [b, bytes] : read) total += bytes;
  return total;
}

std::vector<double> step_times(const runtime::Program& program, const Profile& profile) {
  std::vector<std::vector<double>> lengths(program.steps.size());
  for (const Profile::Event& e : profile.events) lengths[e.step].push_back(e.length_us / 1e3);
  std::vector<double> out;
  for (const std::vector<double>& l : lengths) out.push_back(l.empty() ? 0 : median(l));
  return out;
}

std::vector<KernelTime> kernel_times(const runtime::Program& program, const Profile& profile, std::span<const double> flops) {
  const std::vector<double> times = step_times(program, profile);
  std::vector<KernelTime> out;
  std::vector<double> work;
  std::unordered_map<std::string, size_t> places;
  double total = 0;
  for (size_t k = 0; k < times.size(); ++k) {
    if (times[k] == 0) continue;
    const auto [place, fresh] = places.emplace(label_of(program.steps[k]), out.size());
    if (fresh) {
      out.push_back({place->first});
      work.push_back(0);
    }
    KernelTime& t = out[place->second];
    ++t.calls;
    t.ms += times[k];
    total += times[k];
    work[place->second] += flops[k];
  }
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].share = total > 0 ? out[k].ms / total : 0;
    out[k].gflops = rate(work[k], out[k].ms);
  }
  std::ranges::sort(out, std::greater{}, &KernelTime::ms);
  return out;
}

static nlohmann::ordered_json json_of(const runtime::Step& step, const Profile::Event& e, double gflops) {
  return {{"name", label_of(step)},
          {"cat", std::string(runtime::name_of(step.kind))},
          {"ph", "X"},
          {"ts", e.begin_us},
          {"dur", e.length_us},
          {"pid", 1},
          {"tid", 1},
          {"args", {{"run", e.run}, {"step", e.step}, {"gflops", gflops}}}};
}

std::string chrome_trace(const runtime::Program& program, const Profile& profile, std::span<const double> flops) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  for (const char* kind : {"process_name", "thread_name"})
    events.push_back({{"name", kind}, {"ph", "M"}, {"pid", 1}, {"tid", 1}, {"args", {{"name", kind[0] == 'p' ? "tenon" : "steps"}}}});
  for (const Profile::Event& e : profile.events) {
    events.push_back(json_of(program.steps[e.step], e, rate(flops[e.step], e.length_us / 1e3)));
  }
  const Json trace{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::cli
