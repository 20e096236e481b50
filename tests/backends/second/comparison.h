// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "second.h"
#include "twin.h"

namespace tenon::tests {

inline std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

/// f32[rows,columns], the same numbers in each run.
inline Tensor rows_of(int64_t rows, int64_t columns = 4) {
  Tensor x = *Tensor::make(DType::f32, {rows, columns});
  for (int64_t i = 0; i < x.count(); ++i) x.set_number(i, 0.01 * static_cast<double>(i % 89) - 0.4);
  return x;
}

/// The same graph over second and cpu, and over twin and cpu, cut at the same borders.
class SecondAndTwin {
 public:
  SecondAndTwin(Takes takes, compiler::CompileOptions options) : second_(takes), twin_(takes), options_(std::move(options)) {}

  /// Compiles both. Errors: those of compile(); a partition that differs.
  Result<void> make(const ir::Graph& graph) {
    auto ours = TRY(compiled(graph, second_));
    auto theirs = TRY(compiled(graph, twin_));
    segments_ = count_blobs(ours.built.programs);
    failed_segments_ = ours.failed_segments.size();
    for (const partition::FailedSegment& h : ours.failed_segments) failed_segments_text_ += h.error + "\n";
    note_given(*ours.graph, ours.partition);
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

  /// Nodes that the partition gives to second, by the names of their results, and cpu has compiled.
  std::vector<std::string> compiled_twice() const {
    std::vector<std::string> out;
    std::ranges::set_intersection(given_, host_.compiled(), std::back_inserter(out));
    std::erase(out, "");
    return out;
  }

  runtime::Context& context() { return *context_; }
  const Second& second() const { return second_; }
  const SecondDevice& device() const { return *device_; }
  size_t segments() const { return segments_; }
  size_t failed_segments() const { return failed_segments_; }
  const std::string& failed_segments_text() const { return failed_segments_text_; }

 private:
  void note_given(const ir::Graph& graph, const partition::Partition& partition) {
    for (const partition::NodePlacement& n : partition.nodes) {
      if (n.backend == 0) given_.insert(result_name(graph, n.node));
      for (size_t b = 0; b < n.bodies.size(); ++b) note_given(*graph.node(n.node).bodies[b].graph, n.bodies[b]);
    }
  }

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
  size_t segments_ = 0, failed_segments_ = 0;
  std::string failed_segments_text_;
  std::set<std::string> given_;  ///< results of the nodes of second
};

}  // namespace tenon::tests
