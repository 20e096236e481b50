// SPDX-License-Identifier: Apache-2.0
// The half of `far` that compiles: the reference's, at costs of its own.
#include <fmt/format.h>

#include <algorithm>

#include "backend/trials.h"
#include "backend/work.h"
#include "behaviour.h"

namespace tenon::backends {
std::unique_ptr<const backend::Backend> backend_reference(const runtime::Libraries&);
}

namespace tenon::tests {

namespace {

class Far final : public backend::Backend {
 public:
  explicit Far(FarBehaviour behaviour) : does_(std::move(behaviour)) {}
  std::string_view name() const override { return "far"; }
  std::string_view docs() const override { return "the reference, across a boundary: for tests"; }
  Result<std::optional<backend::Library>> library() const override {
    TRY(does_.act("library"));
    return backend::Library{"far", "1"};
  }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    TRY(does_.act("supports"));
    const ir::NodeView view = graph.view(node);
    if (does_.refuses.contains(view.op->name))
      return fail(Code::not_supported, view.where(), fmt::format("far does not run {}", backend::call_text(view)));
    if (!backend::has_only_tensors(view)) return fail(Code::not_supported, view.where(), "far runs tensors alone");
    return reference_->supports(graph, node);
  }

  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10) / does_.faster;
  }
  backend::Overheads overheads() const override { return does_.overheads; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    TRY(does_.act("compile"));
    return reference_->compile(request, options);
  }

 private:
  const FarBehaviour does_;
  const std::unique_ptr<const backend::Backend> reference_ = backends::backend_reference({});
};

}  // namespace

std::unique_ptr<const backend::Backend> far_backend(FarBehaviour behaviour) { return std::make_unique<Far>(std::move(behaviour)); }

}  // namespace tenon::tests

namespace tenon::backends {
BACKEND(far) { return tests::far_backend(tests::FarBehaviour::of_environment()); }
}  // namespace tenon::backends
