// SPDX-License-Identifier: Apache-2.0
#include "twin.h"

#include <unordered_set>

#include "codegen/llvm/emit.h"
#include "compiler/backends.h"
#include "compiler/place_weights.h"
#include "program/build.h"
#include "program/segment.h"
#include "runtime/run/frame.h"

namespace tenon::tests {

namespace {

class TwinSegment final : public runtime::Segment {
 public:
  explicit TwinSegment(std::shared_ptr<runtime::Engine> engine) : engine_(std::move(engine)), frame_(*engine_, engine_->program(), false) {}
  void set_sizes(std::span<const int64_t> sizes) override { sizes_.assign(sizes.begin(), sizes.end()); }
  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions& options) override {
    runtime::RunOptions own = options;
    own.on_step = nullptr;
    std::vector<Tensor> out;
    for (const Tensor& t : TRY(frame_.run(operands, sizes_, own))) {
      out.push_back(TRY(Tensor::make(t.dtype(), t.shape())));
      if (t.byte_size() > 0) std::copy_n(t.data(), t.byte_size(), out.back().mutable_data());
    }
    return out;
  }

 private:
  std::shared_ptr<runtime::Engine> engine_;
  runtime::Frame frame_;
  std::vector<int64_t> sizes_;
};

class TwinDevice final : public runtime::Device {
 public:
  explicit TwinDevice(std::shared_ptr<std::vector<std::shared_ptr<runtime::Engine>>> engines) : engines_(std::move(engines)) {}
  std::string_view name() const override { return "twin"; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    const size_t number = std::stoul(std::string(blob.bytes));
    return std::make_unique<TwinSegment>(engines_->at(number));
  }

 private:
  std::shared_ptr<std::vector<std::shared_ptr<runtime::Engine>>> engines_;
};

Result<std::shared_ptr<runtime::Engine>> engine_of(program::LinkedPrograms built, const codegen::Target& target) {
  runtime::EngineParts parts;
  const compiler::PlacedWeights weights = TRY(compiler::place_weights(built));
  parts.weights = weights.bytes;
  parts.keeper = weights.keeper;
  parts.programs = std::move(built.programs);
  parts.code = program::code_section(TRY(codegen::emit(built.kernels, target)));
  return runtime::Engine::create(std::move(parts));
}

/// given: symbols whose values the program around passes.
Result<program::LinkedPrograms> build(const backend::CompileRequest& request, const backend::Options& options,
                                      std::vector<const DimNode*> outer_symbols) {
  static const backend::Backends usual = *compiler::backends_named();
  backend::Options own = options;
  own.target = TRY(codegen::target_named("x86_avx2"));
  own.planning.outer_symbols = std::move(outer_symbols);
  own.planning.carried.reset();
  program::LoweredGraph lowered;
  lowered.graph = &request.graph;
  lowered.is_segment = true;
  lowered.kernels = std::get<backend::Kernels>(TRY(usual[0]->compile({request.graph}, own)));
  return program::build(std::move(lowered));
}

}  // namespace

Result<void> Twin::supports(const ir::Graph& graph, ir::NodeId node) const {
  if (!takes_(graph, node)) return fail(Code::not_supported, graph.view(node).where(), "it is not in the share of twin");
  return check_kernel_node(graph, node);
}

Result<backend::Artifact> Twin::compile(const backend::CompileRequest& request, const backend::Options& options) const {
  auto built = build(request, options, {});
  if (!built && built.error().code() == Code::not_supported) built = build(request, options, program::outer_symbols(request.graph));
  program::LinkedPrograms linked = TRY(std::move(built));
  backend::Blob out;
  for (Dim d : linked.outer) out.sizes.push_back(d.node()->name);
  engines_->push_back(TRY(engine_of(std::move(linked), **codegen::target_named("x86_avx2"))));
  out.bytes = std::to_string(engines_->size() - 1);
  return out;
}

std::shared_ptr<const runtime::Device> Twin::device() const { return std::make_shared<TwinDevice>(engines_); }

Result<backend::Artifact> NotedHost::compile(const backend::CompileRequest& request, const backend::Options& options) const {
  std::unordered_set<ir::NodeId> others;
  for (const ir::Segment& s : request.segments) others.insert(s.nodes.begin(), s.nodes.end());
  for (ir::NodeId n : request.graph.nodes())
    if (!others.contains(n)) compiled_.insert(result_name(request.graph, n));
  return cpu_.compile(request, options);
}

}  // namespace tenon::tests
