// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/checks/checks.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

/// A run in which a call of the host is refused, and one more, which must be right.
void refused(Trial& trial, const PluginCase& at, const std::vector<Tensor>& expected, const PluginRunOptions& options,
             const std::string& call) {
  const auto object = trial.object(at);
  if (!object) return;
  PluginRun run(*object, at);
  if (!trial.set_shapes(run, at)) return;
  const auto done = run.run(options);
  if (done && done->refused) trial.report(at, call + " fails, and enqueue reports success");
  if (const auto next = trial.run_once(run, at))
    trial.expect_same(at, "the run after one in which " + call + " failed", expected, next->tensors);
}

void without_resources(Trial& trial, const PluginCase& at, const std::vector<Tensor>& expected) {
  const plugin::Host& host = *trial.op().host;
  host.refuse_resources(true);
  const auto object = create_at(trial.op(), at, TENON_BUILD, at.fields);
  if (object) {
    PluginRun run(**object, at);
    if (run.set_shapes())
      if (const auto done = run.run()) trial.expect_same(at, "where acquire fails", expected, done->tensors);
  }
  host.refuse_resources(false);
}

void stopped(Trial& trial, const PluginCase& at, const std::vector<Tensor>& expected) {
  PluginRunOptions options;
  options.stopped = true;
  const auto object = trial.object(at);
  if (!object) return;
  PluginRun run(*object, at);
  if (!trial.set_shapes(run, at)) return;
  if (const auto done = run.run(options)) trial.expect_same(at, "a run that is to stop and reports success", expected, done->tensors);
}

void without_a_saver(Trial& trial, const PluginCase& at) {
  if (!trial.op().table.save) return;
  const auto object = trial.object(at);
  if (!object) return;
  bool was_called = false;
  const tenon_saver saver{.struct_size = sizeof(tenon_saver),
                          .put = [](const tenon_saver* to, const tenon_field*) -> int32_t {
                            *static_cast<bool*>(to->host_data) = true;
                            return TENON_FAILED;
                          },
                          .host_data = &was_called};
  const int32_t status = trial.op().table.save(object->self(), &saver);
  plugin::take_failure();
  if (was_called && status == TENON_OK) trial.report(at, "put fails, and save reports success");
}

void without_graphs(Trial& trial, const PluginCase& at) {
  if (!trial.op().table.add_graphs) return;
  const auto object = trial.object(at);
  if (!object) return;
  bool was_called = false;
  tenon_graphs graphs = plugin::blank<tenon_graphs>();
  graphs.host_data = &was_called;
  graphs.add = [](const tenon_graphs* to, const char*, uint32_t*) -> int32_t {
    *static_cast<bool*>(to->host_data) = true;
    return TENON_FAILED;
  };
  graphs.add_with = [](const tenon_graphs* to, const char*, uint32_t, const tenon_tensor* const*, uint32_t*) -> int32_t {
    *static_cast<bool*>(to->host_data) = true;
    return TENON_FAILED;
  };
  graphs.constant = [](const tenon_graphs*, uint32_t, tenon_tensor* value) -> int32_t {
    value->dtype = TENON_NO_DTYPE;
    return TENON_OK;
  };
  const int32_t status = trial.op().table.add_graphs(object->self(), &graphs);
  plugin::take_failure();
  if (was_called && status == TENON_OK) trial.report(at, "add fails, and add_graphs reports success");
}

}  // namespace

void check_host(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto expected = trial.expected(at);
    if (!expected) continue;
    PluginRunOptions no_thread_pool, no_memory, no_graph;
    no_thread_pool.refuse_parallel_for = true;
    no_memory.refuse_set_sizes = true;
    no_graph.refuse_run_graph = true;
    refused(trial, at, *expected, no_thread_pool, "parallel_for");
    refused(trial, at, *expected, no_memory, "set_sizes");
    refused(trial, at, *expected, no_graph, "run_graph");
    without_resources(trial, at, *expected);
    stopped(trial, at, *expected);
    without_a_saver(trial, at);
    without_graphs(trial, at);
  }
}

}  // namespace tenon::cli
