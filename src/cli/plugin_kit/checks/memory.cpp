// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

namespace {

/// Bytes that have in both runs their values from before: results were filled with `a` before the one, with `b` before the other.
size_t untouched(const Tensor& first, uint8_t a, const Tensor& second, uint8_t b) {
  size_t out = 0;
  const int64_t bytes = std::min(first.byte_size(), second.byte_size());
  for (int64_t k = 0; k < bytes; ++k) out += first.data()[k] == static_cast<std::byte>(a) && second.data()[k] == static_cast<std::byte>(b);
  return out;
}

}  // namespace

void check_canaries(Trial& trial) {
  for (const PluginCase& at : trial.cases())
    for (const bool pieces : {false, true}) {
      const auto object = trial.object(at);
      if (!object) return;
      PluginRunOptions options;
      options.pieces = pieces;
      const auto done = trial.run(*object, at, options);
      if (!done) break;
      for (const std::string& fault : done->faults) trial.report(at, fault);
      if (!done->faults.empty()) break;
    }
}

void check_written(Trial& trial) {
  if (trial.op().table.is_random) return;
  for (const PluginCase& at : trial.cases()) {
    const auto object = trial.object(at);
    if (!object) return;
    PluginRunOptions first, second;
    second.fill = 0xa3;
    const auto a = trial.run(*object, at, first), b = trial.run(*object, at, second);
    for (size_t k = 0; a && b && k < a->tensors.size(); ++k)
      if (const size_t bytes = untouched(a->tensors[k], first.fill, b->tensors[k], second.fill); bytes > 0)
        trial.report(at, fmt::format("{} bytes of result {} are not written", bytes, k));
  }
}

void check_addresses(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto others = trial.other_operands(at, 2);
    const auto fresh = trial.object(at), kept = trial.object(at);
    if (!fresh || !kept) return;
    PluginRun alone(*fresh, at), run(*kept, at);
    if (!trial.set_shapes(alone, at) || !trial.set_shapes(run, at)) continue;
    const auto expected = trial.run_once(alone, at, {}, &others);
    if (!expected || !trial.run_once(run, at)) continue;
    if (const auto done = trial.run_once(run, at, {}, &others)) {
      trial.expect_same(at, "the second run, on memory elsewhere", expected->tensors, done->tensors);
      for (const std::string& fault : done->faults) trial.report(at, "the second run, on memory elsewhere: " + fault);
    }
  }
}

void check_in_place(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto expected = trial.expected(at);
    const auto object = trial.object(at);
    if (!expected || !object) continue;
    PluginRunOptions options;
    options.in_place = true;
    if (const auto done = trial.run(*object, at, options))
      trial.expect_same(at, "with a result in the memory of an operand", *expected, done->tensors);
  }
}

}  // namespace tenon::cli
