// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "cli/plugin_kit/checks/checks.h"
#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

int64_t bytes_on_the_heap() {
#if defined(__GLIBC__)
  return static_cast<int64_t>(mallinfo2().uordblks);
#else
  return 0;
#endif
}

/// One life: made, run, saved, made again, attached, run, destroyed.
void live(Trial& trial, const PluginCase& at) {
  const auto object = create_at(trial.op(), at, TENON_BUILD, at.fields);
  if (!object) return;
  const auto loaded = save_and_reload(**object, at);
  if (!loaded || !trial.op().runs()) return;
  const auto attached = loaded->object->attach();
  if (!attached) return;
  PluginRun run(*attached ? **attached : *loaded->object, at);
  if (run.set_shapes()) (void)run.run();
}

}  // namespace

void check_attach(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto expected = trial.expected(at);
    auto object = trial.object(at);
    if (!expected || !object) continue;
    const auto attached = object->attach();
    if (!attached) {
      trial.report(at, "it does not attach", attached.error());
      continue;
    }
    if (const auto done = trial.run(**attached, at)) trial.expect_same(at, "an attached object", *expected, done->tensors);
  }
}

void check_save(Trial& trial) {
  for (const PluginCase& at : trial.cases()) {
    const auto expected = trial.expected(at);
    const auto object = trial.object(at);
    if (!expected || !object) continue;
    const auto loaded = trial.loaded(*object, at);
    if (!loaded) continue;
    if (const auto done = trial.run(*loaded->object, at))
      trial.expect_same(at, "an object made of what was saved", *expected, done->tensors);
    const auto twice = loaded->object->save(loaded->fields);
    if (twice && *twice != loaded->fields) trial.report(at, "an object made of what was saved saves other fields");
  }
}

void check_leaks(Trial& trial) {
  constexpr int kLives = 256;
  if (trial.cases().empty()) return;
  const PluginCase& at = trial.cases().front();
  const plugin::Host& host = *trial.op().host;
  const size_t before = host.resource_holders();
  const auto some_lives = [&] {
    for (int k = 0; k < kLives; ++k) live(trial, at);
    return bytes_on_the_heap();
  };
  const int64_t warm = some_lives();
  if (host.resource_holders() > before)
    trial.report(at, fmt::format("{} lives of an object leave {} resources unreleased", kLives, host.resource_holders() - before));
  const int64_t first = some_lives() - warm, second = some_lives() - warm - first;
  if (first >= kLives && second >= kLives)
    trial.report(at, fmt::format("{} lives of an object leave {} bytes on the heap", 2 * kLives, first + second));
}

}  // namespace tenon::cli
