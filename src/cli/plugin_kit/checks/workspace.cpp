// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

namespace {

void larger_and_smaller(Trial& trial, const PluginCase& large, const PluginCase& small, uint64_t large_bytes, uint64_t small_bytes) {
  if (large_bytes >= small_bytes) return;
  trial.report(large, fmt::format("its workspace is {} bytes, and that of the smaller {} is {}", large_bytes, small.text, small_bytes));
}

/// Same fields and ranks, and no size is larger.
bool is_smaller(const PluginCase& a, const PluginCase& than) {
  if (a.fields != than.fields || a.made.operands.size() != than.made.operands.size()) return false;
  for (size_t k = 0; k < a.made.operands.size(); ++k) {
    const Tensor &x = a.made.operands[k], &y = than.made.operands[k];
    if (x.dtype() != y.dtype() || x.rank() != y.rank()) return false;
    for (size_t axis = 0; axis < x.shape().size(); ++axis)
      if (x.shape()[axis] > y.shape()[axis]) return false;
  }
  return true;
}

uint64_t workspace_of(Trial& trial, const plugin::Object& object, const PluginCase& at, bool& known) {
  PluginRun run(object, at);
  known = trial.set_shapes(run, at);
  return run.workspace();
}

void with_the_larger(Trial& trial, const PluginCase& large, const PluginCase& small) {
  const auto object = trial.object(large);
  if (!object) return;
  bool known_large = false, known_small = false;
  const uint64_t large_bytes = workspace_of(trial, *object, large, known_large);
  const uint64_t small_bytes = workspace_of(trial, *object, small, known_small);
  if (!known_large || !known_small) return;
  larger_and_smaller(trial, large, small, large_bytes, small_bytes);
  const auto expected = trial.expected(small);
  PluginRun run(*object, small);
  if (large_bytes < small_bytes || !expected || !trial.set_shapes(run, small, &large)) return;
  if (const auto done = trial.run_once(run, small))
    trial.expect_same(small, "with the workspace of " + large.text, *expected, done->tensors);
}

}  // namespace

void check_workspace(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto object = trial.object(at);
    if (!object) return;
    PluginRunOptions other;
    other.fill = 0x00;  // the workspace is filled with its complement
    PluginRunOptions zero;
    zero.fill = 0xff;
    const auto first = trial.run(*object, at), second = trial.run(*object, at, other), third = trial.run(*object, at, zero);
    if (!first || !second || !third) continue;
    trial.expect_same(at, "with other bytes in the workspace before", first->tensors, second->tensors);
    trial.expect_same(at, "with zeros in the workspace before", first->tensors, third->tensors);
    for (const std::string& fault : first->faults)
      if (fault.starts_with("workspace")) trial.report(at, fault);
    for (const PluginCase& small : trial.cases())
      if (&small != &at && is_smaller(small, at)) with_the_larger(trial, at, small);
  }
}

}  // namespace tenon::cli
