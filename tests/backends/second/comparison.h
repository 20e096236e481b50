// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "ops/core/op.h"
#include "second.h"
#include "twin.h"

namespace tenon::tests {

/// The same graph over second and cpu, and over twin and cpu, cut at the same borders.
class SecondAndTwin {
 public:
  SecondAndTwin(Takes takes, compiler::CompileOptions options) : second_(takes), twin_(takes), options_(std::move(options)) {}

  /// Compiles both. Errors: those of compile(); a partition that differs.
  Result<void> make(const ir::Graph& graph) {
    auto ours = TRY(compiled(graph, second_));
    auto theirs = TRY(compiled(graph, twin_));
    segments_ = count_blobs(ours.built.programs);
    handed_back_ = ours.handed_back.size();
    if (segments_ != count_blobs(theirs.built.programs))
      return fail(Code::internal, graph.name, "second and twin are cut at other borders");
    context_ = TRY(runtime::Context::create(TRY(compiler::load_compiled(std::move(ours), {device_}))));
    twin_context_ = TRY(runtime::Context::create(TRY(compiler::load_compiled(std::move(theirs), {twin_.device()}))));
    return {};
  }

  /// Runs both; empty where all bytes of all results are equal, else the first difference.
  std::string difference(std::span<const Tensor> inputs) {
    const auto got = context_->run(inputs);
    if (!got) return got.error().text();
    const auto want = twin_context_->run(inputs);
    if (!want) return want.error().text();
    for (size_t k = 0; k < want->size(); ++k) {
      const Tensor &a = (*got)[k], &b = (*want)[k];
      if (type_text(a) != type_text(b)) return "result " + std::to_string(k) + ": " + type_text(a) + " instead of " + type_text(b);
      if (b.byte_size() > 0 && std::memcmp(a.data(), b.data(), static_cast<size_t>(b.byte_size())) != 0)
        return "result " + std::to_string(k) + " has other bits";
    }
    return "";
  }

  /// Nodes of second, by the names of their results, that cpu has compiled too.
  std::vector<std::string> compiled_twice() const {
    std::vector<std::string> out;
    const std::set<std::string> ours = second_.compiled();
    std::ranges::set_intersection(ours, host_.compiled(), std::back_inserter(out));
    std::erase(out, "");
    return out;
  }

  runtime::Context& context() { return *context_; }
  const Second& second() const { return second_; }
  const SecondDevice& device() const { return *device_; }
  size_t segments() const { return segments_; }
  size_t handed_back() const { return handed_back_; }

 private:
  static size_t count_blobs(const runtime::ProgramTable& table) {
    size_t out = 0;
    for (const runtime::NamedProgram& p : table.programs)
      for (const runtime::Blob& b : p.program.blobs) out += b.device == "second" || b.device == "twin";
    return out;
  }

  Result<compiler::Compiled> compiled(const ir::Graph& graph, const backend::Backend& first) {
    compiler::CompileOptions options = options_;
    options.backends = {&first, &host_, usual_[1]};
    options.constraints.listed = 2;
    return compiler::compile(graph.clone(), options);
  }

  const backend::Backends usual_ = *compiler::backends_named();
  NotedHost host_{*usual_[0]};
  Second second_;
  Twin twin_;
  compiler::CompileOptions options_;
  std::shared_ptr<SecondDevice> device_ = std::make_shared<SecondDevice>();
  std::unique_ptr<runtime::Context> context_, twin_context_;
  size_t segments_ = 0, handed_back_ = 0;
};

}  // namespace tenon::tests
