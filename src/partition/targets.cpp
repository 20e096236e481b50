// SPDX-License-Identifier: Apache-2.0
#include "partition/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/activity.h"
#include "ops/core/op.h"
#include "runtime/device_error.h"

namespace tenon::partition {

namespace {

/// Chooses the backend of one node.
class TargetChoice {
 public:
  TargetChoice(const ir::Graph& graph, ir::NodeId node, const Roles& roles, std::span<const FailedSegment> failed_segments)
      : graph_(graph), node_(node), roles_(roles), refusals_(roles.count()) {
    for (const FailedSegment& failed : failed_segments)
      if (std::ranges::find(failed.nodes, node) != failed.nodes.end())
        for (uint16_t b = 0; b < roles.count(); ++b)
          if (roles.backends[b]->name() == failed.backend) refusals_[b] = Reason{"handed_back", failed.error};
  }

  /// size_backend: the backend whose size table contains the results of the node; none: no table does.
  Result<Target> run(bool all_choices, std::optional<uint16_t> size_backend) {
    const ir::Placement* const placement = graph_.node(node_).placement();
    if (!placement && size_backend && TRY(supports(*size_backend))) {
      out_.backend = out_.fallback_target = *size_backend;
      out_.choices = {*size_backend};
      out_.reasons.push_back(
          {"chosen", fmt::format("sizes that follow from the inputs are computed by {}", roles_.backends[*size_backend]->name())});
      return std::move(out_);
    }
    if (!placement) {
      out_.backend = TRY(is_inserted_cast() ? backend_of_neighbor() : first_from(0));
    } else if (placement->backend.empty()) {
      out_.reasons.push_back({placement->code, placement->text});
      out_.backend = TRY(first_from(roles_.fallback()));
    } else if (placement->code == "preferred" && !TRY(preferred_supports(placement->backend))) {
      out_.backend = TRY(first_from(0));
    } else {
      out_.reasons.push_back({placement->code, placement->text});
      out_.backend = TRY(pinned_to(placement->backend));
      out_.pinned = true;
    }
    out_.fallback_target = out_.backend;
    if (roles_.is_accelerated(out_.backend) && !out_.pinned) {
      const std::optional<uint16_t> other = TRY(search_from(roles_.fallback()));
      out_.pinned = !other;  // no other backend runs it
      out_.fallback_target = other.value_or(out_.backend);
    }
    if (all_choices) TRY(find_choices(placement));
    add_reasons();
    return std::move(out_);
  }

 private:
  void add_reasons() {
    const ir::Retyping* const retyping = graph_.node(node_).retyping();
    if (retyping && !is_inserted_cast()) add_original_refusal(*retyping);
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (refusals_[b]) out_.reasons.push_back({refusals_[b]->code, fmt::format("{}: {}", roles_.backends[b]->name(), refusals_[b]->text)});
    const std::string_view name = roles_.backends[out_.backend]->name();
    if (is_inserted_cast() || (retyping && retyping->backend == name)) out_.reasons.push_back({"chosen", retyping->text});
    else if (!graph_.node(node_).placement()) out_.reasons.push_back({"chosen", fmt::format("{} is the first that supports it", name)});
  }

  /// Whether it is a Cast that partition_with_casts() inserted, between a type of the model and one that a backend supports.
  bool is_inserted_cast() const { return graph_.node(node_).retyping() && graph_.node(node_).retyping()->is_inserted_cast(); }

  /// Adds the refusal of the node's backend to run it with its original types.
  void add_original_refusal(const ir::Retyping& retyping) {
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (roles_.backends[b]->name() == retyping.backend && !refusals_[b]) refusals_[b] = Reason{"unsupported", retyping.refusal};
  }

  /// The backend that an inserted Cast was inserted for, or a later one: any other would add a segment.
  Result<uint16_t> backend_of_neighbor() {
    const auto neighbor = std::ranges::find(roles_.backends, graph_.node(node_).retyping()->backend, &backend::Backend::name);
    for (auto b = static_cast<uint16_t>(neighbor - roles_.backends.begin()); b < roles_.listed; ++b)
      if (TRY(supports(b))) return b;
    return first_from(0);
  }

  /// Whether the backend runs the node. Its refusal is kept in refusals_.
  Result<bool> supports(uint16_t backend) {
    if (refusals_[backend]) return false;
    const Activity activity(roles_.backends[backend]->name(), "was called for `supports` of a node");
    auto supported = roles_.backends[backend]->supports(graph_, node_);
    if (supported) return true;
    if (supported.error().code() != Code::not_supported)
      return runtime::backend_error(std::move(supported).error(), roles_.backends[backend]->name(), graph_.view(node_).where());
    refusals_[backend] = Reason{"unsupported", supported.error()->what};
    return false;
  }

  /// Sets out_.choices: without a constraint the accelerated backends that support the node, and its fallback; else only its backend.
  Result<void> find_choices(const ir::Placement* placement) {
    if (!placement)
      for (uint16_t b = 0; b < roles_.fallback(); ++b)
        if (TRY(supports(b))) out_.choices.push_back(b);
    const uint16_t last = placement ? out_.backend : out_.fallback_target;
    if (std::ranges::find(out_.choices, last) == out_.choices.end()) out_.choices.push_back(last);
    return {};
  }

  /// The first backend from that one on that supports the node.
  Result<std::optional<uint16_t>> search_from(uint16_t backend) {
    for (uint16_t b = backend; b < roles_.count(); ++b)
      if (TRY(supports(b))) return b;
    return std::nullopt;
  }

  /// As search_from(). Errors: not_supported where there is none.
  Result<uint16_t> first_from(uint16_t backend) {
    if (const std::optional<uint16_t> found = TRY(search_from(backend))) return *found;
    const ir::NodeView view = graph_.view(node_);
    std::string reasons;
    for (uint16_t b = backend; b < roles_.count(); ++b)
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", roles_.backends[b]->name(), refusals_[b]->text);
    return fail(Code::not_supported, view.where(), "not supported yet: no backend runs " + view.op->name).found(reasons);
  }

  /// Whether the preferred backend supports the node.
  Result<bool> preferred_supports(const std::string& name) {
    for (uint16_t b = 0; b < roles_.count(); ++b)
      if (roles_.backends[b]->name() == name) return supports(b);
    return false;
  }

  Result<uint16_t> pinned_to(const std::string& name) {
    for (uint16_t b = 0; b < roles_.count(); ++b) {
      if (roles_.backends[b]->name() != name) continue;
      if (TRY(supports(b))) return b;
      return fail(Code::not_supported, graph_.view(node_).where(),
                  fmt::format("backend '{}', which it is pinned to, does not run it", name))
          .expected("a backend that runs " + graph_.node(node_).op->name)
          .found(refusals_[b]->text)
          .advice("pin it to another backend, or leave the pin out");
    }
    return fail(Code::bad_usage, graph_.view(node_).where(), fmt::format("it is pinned to '{}', which is no backend of this build", name));
  }

  const ir::Graph& graph_;
  ir::NodeId node_;
  const Roles& roles_;
  std::vector<std::optional<Reason>> refusals_;  ///< by backend
  Target out_;
};

}  // namespace

Targets::Targets(const ir::Graph& graph, const ir::Dependencies& dependencies, const Roles& roles,
                 std::span<const FailedSegment> failed_segments)
    : graph_(graph), dependencies_(dependencies), roles_(roles), failed_segments_(failed_segments) {
  for (uint16_t b = roles.fallback(); b < roles.count() && !sizes_; ++b)
    if (roles.backends[b]->is_host()) sizes_ = b;
}

Result<Target> Targets::of(ir::NodeId node, bool all_choices) const {
  const bool is_sized = sizes_ && dependencies_.follows_from_input_sizes(node);
  return TargetChoice(graph_, node, roles_, failed_segments_).run(all_choices, is_sized ? sizes_ : std::nullopt);
}

bool does_work(const ir::Graph& graph, ir::NodeId node) {
  const ir::Node& n = graph.node(node);
  if (n.retyping() && n.retyping()->is_inserted_cast()) return false;
  if (ops::def_of(*n.op).same_bytes || n.is("Shape") || n.is("Size")) return false;
  return !std::ranges::all_of(n.outputs, [&](ir::ValueId v) { return !v || graph.value(v).data || graph.value(v).is_constant(); });
}

}  // namespace tenon::partition
