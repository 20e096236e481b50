// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/stateful_run.h"

/// Models with states, step by step against the reference.
namespace tenon::compiler {

struct Stepper {
  std::shared_ptr<runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  std::vector<std::unique_ptr<ir::Graph>> graphs;
  ops::StatefulRun reference;

  /// Empty where results and states are those of the reference.
  std::string step(std::span<const Tensor> inputs, size_t entry = 0) {
    const auto want = reference.step(*graphs[entry], inputs);
    if (!want) return "reference: " + want.error().text();
    const auto got = context->run(inputs, tests::run_options(), entry);
    if (!got) return got.error().text();
    if (got->size() != want->size()) return "other results";
    for (size_t k = 0; k < want->size(); ++k)
      if (const std::string d = testing::difference((*want)[k], (*got)[k]); !d.empty()) return "result " + std::to_string(k) + ": " + d;
    for (size_t s = 0; s < engine->states().size(); ++s) {
      const auto value = context->state_value(s);
      if (!value) return value.error().text();
      const Tensor* known = reference.state(engine->states()[s].name);
      if (!known) continue;
      if (const std::string d = testing::difference(*known, *value); !d.empty()) return "state " + engine->states()[s].name + ": " + d;
    }
    return "";
  }
};

inline Result<Stepper> stepper(const std::vector<std::pair<std::string, std::string>>& entries,
                               CompileOptions options = tests::compile_options(3)) {
  options.verify = true;
  Stepper out;
  std::vector<EntrySource> sources;
  for (const auto& [name, text] : entries) {
    auto graph = TRY(ir::parse(text, ops::table()));
    out.graphs.push_back(graph->clone());
    sources.push_back({name, {std::move(graph)}});
  }
  auto compiled = TRY(compile(std::move(sources), options));
  out.engine = entries.size() > 1 ? TRY(load_compiled(std::move(compiled), tests::every_other_device()))  // which no portable engine has
                                  : TRY(tests::engine_from(std::move(compiled), options));
  out.context = TRY(runtime::Context::create(out.engine));
  return out;
}
inline Result<Stepper> stepper(const std::string& text, const CompileOptions& options = tests::compile_options(3)) {
  return stepper({{"main", text}}, options);
}

inline Tensor random(Sizes shape, uint64_t seed) { return *ops::random_tensor(DType::f32, std::move(shape), seed); }

inline Tensor index(int64_t k) { return Tensor::of_i64({1}, std::vector{k}); }

/// Where a test is about what kernels do: in every weather the same.
inline CompileOptions plain() {
  CompileOptions options;
  options.opt = 3;
  return options;
}

#define EXPECT_STEP(s, ...)                    \
  do {                                         \
    const std::vector<Tensor> in{__VA_ARGS__}; \
    EXPECT_EQ((s).step(in), "");               \
  } while (false)

}  // namespace tenon::compiler
