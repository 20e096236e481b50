// SPDX-License-Identifier: Apache-2.0
// Runs nodes of plugins: one object an engine, which contexts attach to.
#include <algorithm>
#include <functional>
#include <map>

#include "backends/plugin/device/node_graphs.h"
#include "base/threads/thread_pool.h"
#include "plugin/registry.h"
#include "plugin/run/runner.h"
#include "plugin/saved.h"
#include "plugin/worker/remote_runner.h"
#include "runtime/device.h"
#include "runtime/stopping.h"

namespace tenon::backends {

namespace {

using plugin::Saved;

/// What runs a node in a context that is new; graphs: the node's, which outlive it; null: it has none.
using MakeRunner = std::function<Result<std::unique_ptr<plugin::NodeRunner>>(const Saved& saved, plugin::InnerGraphs* graphs)>;

/// In this process, by an object of it.
Result<MakeRunner> here(const plugin::Op& op, const Saved& saved) {
  std::shared_ptr<const plugin::Object> object =
      TRY(plugin::Object::create(op, TENON_RUN, saved.node, saved.fields, saved.operands.size(), saved.results.size()));
  return [object](const Saved& of, plugin::InnerGraphs* graphs) -> Result<std::unique_ptr<plugin::NodeRunner>> {
    auto runner = TRY(plugin::Runner::make(object, of.operands.size(), of.results, of.layouts));
    runner->set_graphs(graphs);
    runner->set_tactic(of.tactic);
    return runner;
  };
}

/// In the process of its library.
Result<MakeRunner> isolated(const plugin::Op& op, const Saved& saved, const plugin::Registry& plugins, const plugin::Isolation& isolation) {
  using namespace plugin::worker;
  const auto libraries = plugins.libraries();
  const auto library = std::ranges::find(libraries, op.sha256, [](const auto& l) { return l->sha256; });
  TENON_ASSERT(library != libraries.end());
  auto object = TRY(RemoteObject::create(
      op, TRY(SharedProcess::of(*library, isolation)),
      {.name = saved.node, .fields = saved.fields, .operands = saved.operands.size(), .results = saved.results.size()}));
  return [object](const Saved& of, plugin::InnerGraphs* graphs) -> Result<std::unique_ptr<plugin::NodeRunner>> {
    return RemoteRunner::make(object, of.results, of.layouts, of.tactic, graphs);
  };
}

/// One node in one context.
class PluginNode final : public runtime::Segment, public runtime::InPlace {
 public:
  static Result<std::unique_ptr<runtime::Segment>> make(const MakeRunner& make_runner, Saved saved, const runtime::BlobView& blob) {
    for (int32_t k : saved.operands)
      if (k <= Saved::kWeights && static_cast<size_t>(Saved::kWeights - k) >= blob.weights.size())
        return fail(Code::bad_file, saved.node, "the engine does not hold a weight of the plugin").advice("build the engine again");
    auto graphs = TRY(NodeGraphs::make(saved, blob));
    auto runner = TRY(make_runner(saved, graphs.get()));
    return std::unique_ptr<runtime::Segment>(new PluginNode(std::move(runner), std::move(saved), std::move(graphs), blob.weights));
  }

  Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places) override {
    std::vector<Tensor> in(saved_.operands.size());
    for (size_t k = 0; k < in.size(); ++k) {
      const int32_t from = saved_.operands[k];
      if (from <= Saved::kWeights) in[k] = weights_[static_cast<size_t>(Saved::kWeights - from)];
      else if (from >= 0) in[k] = TRY(at(operands, from));
    }
    std::vector<Tensor> out(saved_.places.size());
    std::vector<bool> wanted(out.size());
    for (size_t k = 0; k < out.size(); ++k) {
      wanted[k] = saved_.places[k] >= 0;
      if (wanted[k]) out[k] = TRY(at(places, saved_.places[k]));
    }
    for (size_t k = 0; k < places.size(); ++k)
      if (std::ranges::count(saved_.places, static_cast<int32_t>(k)) != 1) return damaged();
    return runner_->set_shapes(in, out, wanted);
  }

  Result<void> run_in_place(void* const* operands, void* const* places, const runtime::RunOptions& options, int threads) override {
    for (size_t k = 0; k < saved_.operands.size(); ++k)
      if (saved_.operands[k] >= 0) runner_->point_operand(k, operands[saved_.operands[k]]);
    for (size_t k = 0; k < saved_.places.size(); ++k)
      if (saved_.places[k] >= 0) runner_->point_result(k, places[saved_.places[k]]);
    if (graphs_) graphs_->begin(options, threads);
    return ran({.thread_pool = options.thread_pool ? options.thread_pool : &default_thread_pool(), .threads = threads}, options);
  }

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                  const runtime::RunOptions& options) override {
    TRY(set_shapes(operands, places));
    ThreadPool& thread_pool = options.thread_pool ? *options.thread_pool : default_thread_pool();
    const int threads = options.threads > 0 ? std::min(options.threads, thread_pool.size()) : thread_pool.size();
    if (graphs_) graphs_->begin(options, threads);
    TRY(ran({.thread_pool = &thread_pool, .threads = threads}, options));
    std::vector<Tensor> out(places.begin(), places.end());
    for (size_t k = 0; k < saved_.places.size(); ++k)
      if (saved_.places[k] >= 0 && out[static_cast<size_t>(saved_.places[k])].empty_handle())
        out[static_cast<size_t>(saved_.places[k])] = runner_->late(k);
    return out;
  }

  runtime::InPlace* in_place() override { return this; }
  bool keeps_results() const override { return runner_->keeps_results(); }
  void* kept_result(size_t place) const override {
    const auto found = std::ranges::find(saved_.places, static_cast<int32_t>(place));
    return runner_->kept_result(static_cast<size_t>(found - saved_.places.begin()));
  }

 private:
  PluginNode(std::unique_ptr<plugin::NodeRunner> runner, Saved saved, std::unique_ptr<NodeGraphs> graphs, std::span<const Tensor> weights)
      : graphs_(std::move(graphs)), runner_(std::move(runner)), saved_(std::move(saved)), weights_(weights.begin(), weights.end()) {}

  Result<void> ran(plugin::RunResources running, const runtime::RunOptions& options) {
    running.stopped = stopped;
    running.stopped_of = &options;
    TRY(runner_->run(running));
    if (const int64_t bytes = runner_->copied_bytes(); bytes > 0) options.copied(bytes);
    return {};
  }

  static bool stopped(const void* options) {
    return requested_stop(*static_cast<const runtime::RunOptions*>(options)) != runtime::Stop::none;
  }

  Result<Tensor> at(std::span<const Tensor> tensors, int32_t index) const {
    if (static_cast<size_t>(index) < tensors.size()) return tensors[static_cast<size_t>(index)];
    return damaged();
  }
  Error damaged() const {
    return fail(Code::bad_file, saved_.node, "the engine does not hold an operand or a result of the plugin")
        .expected("each operand, and each result once")
        .advice("build the engine again");
  }

  std::unique_ptr<NodeGraphs> graphs_;  ///< null: it has none
  std::unique_ptr<plugin::NodeRunner> runner_;
  Saved saved_;
  std::vector<Tensor> weights_;
};

/// What runs the nodes of one engine, one a blob.
class LoadedPlugins final : public runtime::Device {
 public:
  using Makers = std::map<const char*, MakeRunner>;
  LoadedPlugins(Makers makers, bool isolated) : makers_(std::move(makers)), isolated_(isolated) {}
  std::string_view name() const override { return "plugin"; }
  bool shares_memory() const override { return isolated_; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    return PluginNode::make(makers_.at(blob.bytes.data()), TRY(plugin::decode_saved(blob.bytes)), blob);
  }

 private:
  Makers makers_;  ///< by where the engine keeps the blob
  bool isolated_;
};

class PluginDevice final : public runtime::Device {
 public:
  explicit PluginDevice(const runtime::Libraries& libraries)
      : plugins_(libraries.plugins ? libraries.plugins : std::make_shared<plugin::Registry>()),
        build_(libraries.plugin_build),
        isolation_(libraries.isolated_plugins) {}
  std::string_view name() const override { return "plugin"; }

  Result<std::shared_ptr<const Device>> for_engine(std::span<const std::string_view> blobs) const override {
    std::vector<Saved> saved;
    for (std::string_view bytes : blobs) saved.push_back(TRY(plugin::decode_saved(bytes)));
    const auto found = TRY(plugin::find_all(*plugins_, saved, build_, "engine"));
    LoadedPlugins::Makers makers;
    for (size_t k = 0; k < saved.size(); ++k)
      makers[blobs[k].data()] = TRY(isolation_ ? isolated(*found[k], saved[k], *plugins_, *isolation_) : here(*found[k], saved[k]));
    return std::make_shared<LoadedPlugins>(std::move(makers), isolation_.has_value());
  }

  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    const std::string_view blobs[] = {blob.bytes};
    return TRY(for_engine(blobs))->make(blob);
  }

 private:
  std::shared_ptr<const plugin::Registry> plugins_;
  plugin::Build build_;
  std::optional<plugin::Isolation> isolation_;
};

}  // namespace

DEVICE(plugin) { return std::make_shared<PluginDevice>(libraries); }

}  // namespace tenon::backends
