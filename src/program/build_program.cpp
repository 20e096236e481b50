// SPDX-License-Identifier: Apache-2.0
#include "program/build_program.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "ops/core/op.h"
#include "program/bind_sizes.h"
#include "program/buffer_lives.h"
#include "program/guards.h"
#include "program/label.h"
#include "program/lookup_tables.h"
#include "program/pool.h"
#include "program/port_info.h"
#include "program/size_table.h"
#include "program/state_ports.h"

namespace tenon::program {

namespace {

using codegen::ArrayId;
using codegen::Group;
using codegen::GroupKind;
using codegen::Kernel;
using codegen::Plan;
using runtime::BufferInfo;
using runtime::KernelStep;
using runtime::kMissing;
using runtime::PortInfo;
using runtime::Program;
using runtime::ProgramTree;
using runtime::Slot;
using runtime::Step;

using Bodies = std::vector<BuiltProgram>;  ///< of one control node

/// Builds the program of one graph: its buffers, and a step for each kernel, segment, branch, loop and check of the plan.
class ProgramBuilder {
 public:
  ProgramBuilder(LoweredGraph lowered, Pool& pool)
      : lowered_(std::move(lowered)),
        graph_(*lowered_.graph),
        plan_(lowered_.kernels.plan),
        pool_(pool),
        numbers_(plan_.arrays.size(), kMissing),
        is_lookup_table_(lookup_tables(plan_)) {}

  Result<BuiltProgram> run() {
    for (const Group& g : plan_.groups)
      if (g.kind() == GroupKind::control) TRY(add_bodies(g));
    dynamic_ = bind_sizes(lowered_, sizes_);
    request_sizes(lowered_, sizes_);
    for (const Group& g : plan_.groups)
      if (g.kind() == GroupKind::control) request_outer(bodies_.at(g.node));
    TRY(sizes_.finish(out_));
    out_.guards = guards_of(plan_.assumptions, sizes_);
    if (!plan_.states.empty()) add_length_guards(plan_, sizes_, out_.guards);
    TRY(add_ports());
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      TRY(add_group(plan_.groups[g], lowered_.kernels.of_groups[g]));
      origins_.group_of_step.resize(out_.steps.size(), static_cast<uint32_t>(g));
      origins_.work_of_step.resize(out_.steps.size());
    }
    out_.states = TRY(state_ports(plan_, numbers_, sizes_));
    for (const runtime::StatePort& port : out_.states) extend_life(out_, port.new_buffer);  // a run copies it after the last step
    extend_lives_over_regions(out_);
    std::vector<runtime::StateInfo> states = state_infos(plan_, graph_, pool_);
    return BuiltProgram{{std::move(out_), std::move(body_trees_)}, std::move(states), sizes_.outer(), std::move(origins_)};
  }

 private:
  /// Requests the sizes that the bodies read from this program.
  void request_outer(const Bodies& bodies) {
    for (const BuiltProgram& body : bodies)
      for (Dim d : body.outer) sizes_.request(d);
  }

  Result<void> add_bodies(const Group& group) {
    Bodies bodies;
    for (LoweredGraph& body : lowered_.bodies.at(group.node)) bodies.push_back(TRY(build_program(std::move(body), pool_)));
    bodies_.emplace(group.node, std::move(bodies));
    return {};
  }

  std::vector<Slot> slots(const DimList& dims) const {
    std::vector<Slot> out;
    for (Dim d : dims) out.push_back(sizes_.slot(d));
    return out;
  }

  Result<void> add_ports() {
    const auto add = [&](ArrayId a, std::vector<PortInfo>& ports, std::string name) {
      ports.push_back(port_info(a, std::move(name), plan_, graph_, sizes_));
    };
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (const codegen::PlanState* state = codegen::state_of_input(i, plan_)) {
        add_state(plan_.inputs[i], BufferInfo::Kind::state, static_cast<uint32_t>(state - plan_.states.data()));
        continue;
      }
      add(plan_.inputs[i], out_.inputs, graph_.value(graph_.inputs()[i]).name);
      for (const codegen::IndexLimit& l : plan_.index_limits)
        if (l.input == plan_.inputs[i]) out_.inputs.back().limits.push_back({sizes_.slot(l.extent), l.from_end});
      if (const ir::Value& input = graph_.value(graph_.inputs()[i]); input.has_default())
        out_.inputs.back().default_value = {pool_.place(input.constant), input.constant->shape};
      BufferInfo b = info(plan_.inputs[i]);
      b.kind = BufferInfo::Kind::input;
      b.index = static_cast<uint32_t>(out_.inputs.size() - 1);
      out_.inputs.back().buffer = add_buffer(plan_.inputs[i], std::move(b));
    }
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      if (const codegen::PlanState* state = codegen::state_of_output(o, plan_)) {
        if (state->in_place) add_state(plan_.outputs[o], BufferInfo::Kind::alias, numbers_[plan_.inputs[state->input]]);
        else TRY(buffer(plan_.outputs[o]));
        continue;
      }
      add(plan_.outputs[o], out_.outputs, graph_.output_name(static_cast<uint32_t>(o)));
      const uint32_t known = numbers_[plan_.outputs[o]];
      if (known != kMissing) {  // it is an input too, or another output is the same array
        out_.outputs.back().buffer = known;
        if (out_.buffers[known].kind == BufferInfo::Kind::output)
          out_.buffers[known].index = static_cast<uint32_t>(out_.outputs.size() - 1);
        continue;
      }
      BufferInfo b = info(plan_.outputs[o]);
      b.kind = dynamic_[plan_.outputs[o]] ? BufferInfo::Kind::dynamic : BufferInfo::Kind::output;
      b.index = static_cast<uint32_t>(out_.outputs.size() - 1);
      out_.outputs.back().buffer = add_buffer(plan_.outputs[o], std::move(b));
    }
    return {};
  }

  /// Adds the buffer of a state. Its shape is that of the value; its strides follow from the capacity.
  void add_state(ArrayId a, BufferInfo::Kind kind, uint32_t index) {
    BufferInfo b = info(a);
    b.kind = kind;
    b.index = index;
    b.shape = slots(plan_.arrays[a].shape);
    if (const auto& growing = plan_.arrays[a].growing; growing && kind == BufferInfo::Kind::state)
      b.shape[growing->axis] = sizes_.length_of(index);
    add_buffer(a, std::move(b));
  }

  runtime::ContainerInfo container(ArrayId a) const { return container_info_of(plan_, graph_, a); }

  /// The buffer of an array without its kind and place.
  BufferInfo info(ArrayId a) const {
    BufferInfo b;
    b.dtype = plan_.arrays[a].dtype;
    b.shape = slots(codegen::stored_shape(plan_.arrays[a]));
    if (const ir::ValueId v = plan_.arrays[a].value) {
      b.name = graph_.value(v).name;
      b.unranked = !graph_.value(v).type.has_rank();
      b.container = container(a);
    }
    return b;
  }

  /// Adds the buffer of an array; returns its number.
  uint32_t add_buffer(ArrayId a, BufferInfo b) {
    b.first = kMissing;
    out_.buffers.push_back(std::move(b));
    return numbers_[a] = static_cast<uint32_t>(out_.buffers.size() - 1);
  }

  /// The buffer of an array, made on first use.
  Result<uint32_t> buffer(ArrayId a) {
    if (a < 0) return kMissing;
    if (numbers_[a] != kMissing) return numbers_[a];
    const codegen::Array& array = plan_.arrays[a];
    BufferInfo b = info(a);
    if (array.constant) {
      if (array.dtype == DType::string) return fail(Code::not_supported, b.name, "not supported yet: constant strings in an engine");
      b.kind = BufferInfo::Kind::weight;
      b.offset = pool_.place(array.constant, is_lookup_table_[a]);
    } else if (array.same_bytes >= 0) {
      b.kind = BufferInfo::Kind::alias;
      b.index = TRY(buffer(array.same_bytes));
      if (out_.buffers[b.index].kind == BufferInfo::Kind::alias) b.index = out_.buffers[b.index].index;
    } else {
      b.kind = dynamic_[a] ? BufferInfo::Kind::dynamic : BufferInfo::Kind::arena;
      if (b.kind == BufferInfo::Kind::arena && !(array.units == Dim(0))) b.units = sizes_.slot(array.units);
    }
    return add_buffer(a, std::move(b));
  }

  Result<void> add_group(const Group& group, std::vector<Kernel>& lowered) {
    for (Kernel& k : lowered) TRY(add_kernel(k, group));
    if (group.kind() == GroupKind::segment) return add_segment(group);
    if (group.kind() == GroupKind::control) return add_control(group);
    if (group.kind() == GroupKind::check) return add_check(group);
    if (group.kind() == GroupKind::packed_rows) return add_rows(group);
    if (group.kind() == GroupKind::sizes) {
      Step s = start(runtime::SizesStep{});
      s.buffers = {TRY(buffer(group.outputs[0]))};
      s.sizes = slots(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
      s.label = "Sizes";
      extend_life(out_, s.buffers[0]);
      out_.steps.push_back(std::move(s));
    }
    return {};
  }

  /// The next step of the program, not yet added.
  Step start(runtime::StepKind kind) const {
    Step s;
    s.kind = kind;
    s.lines = sizes_.lines_before(static_cast<uint32_t>(out_.steps.size()));
    return s;
  }

  /// Puts the kernel into the parallel region of the step before, where the tasks of both are numbered by units of the region.
  void join_region(KernelStep& s, const Kernel& kernel, const Group& group) {
    const bool by_units = group.region && !(kernel.units == Dim(0));
    if (by_units) {
      s.units = sizes_.slot(kernel.units);
      s.parts = sizes_.slot(group.region->parts);
      s.joined = group.region->joined && group_by_units_ != nullptr && group_by_units_ + 1 == &group;
    }
    group_by_units_ = by_units ? &group : nullptr;
  }

  Result<void> add_kernel(Kernel& kernel, const Group& group) {
    Step s = start(KernelStep());
    auto& kernel_step = std::get<KernelStep>(s.kind);
    join_region(kernel_step, kernel, group);
    for (ArrayId a : kernel.arguments) s.buffers.push_back(TRY(buffer(codegen::storage_of(a, plan_))));
    for (uint32_t b : s.buffers) extend_life(out_, b);
    s.sizes = slots(kernel.sizes);
    kernel_step.tasks = sizes_.slot(kernel.tasks);
    kernel_step.grain = sizes_.slot(kernel.grain);
    kernel_step.flops = sizes_.slot(kernel.flops);
    kernel_step.factors = codegen::factor_dtype(kernel.work);
    kernel_step.scratch_bytes = static_cast<uint64_t>(kernel.tile.scratch_bytes());
    s.label = label_of(graph_, kernel.nodes);
    origins_.work_of_step.resize(out_.steps.size());
    origins_.work_of_step.push_back(std::move(kernel.work));
    kernel_step.kernel = pool_.code(std::move(kernel.tile), std::move(kernel.tactic));
    out_.steps.push_back(std::move(s));
    return {};
  }

  Result<void> add_segment(const Group& group) {
    const ir::Segment& segment = plan_.segments[group.as<codegen::SegmentGroup>().segment];
    backend::Blob& blob = lowered_.blobs[group.as<codegen::SegmentGroup>().segment];
    Step s = start(runtime::SegmentStep());
    for (ArrayId a : group.inputs) s.buffers.push_back(TRY(buffer(a)));
    for (const ir::ConstantRef& w : blob.weights) s.buffers.push_back(add_weight(w));
    for (const std::string& name : blob.sizes) s.sizes.push_back(sizes_.slot(symbol_named(graph_, name)));
    s.kind = runtime::SegmentStep{blob_number(segment.backend, std::move(blob))};
    for (ir::NodeId n : segment.nodes) pool_.add_device_op(segment.backend, graph_.node(n).op->name);
    s.label = segment.nodes.size() == 1 ? graph_.view(group.node).where() : label_of(graph_, segment.nodes);
    return finish_step(group, std::move(s));
  }

  /// The number of the blob in the program, to which it adds a new one. Equal blobs with equal weights have one number.
  uint32_t blob_number(const std::string& backend, backend::Blob blob) {
    std::string key = backend + '\0' + blob.bytes;
    for (const ir::ConstantRef& w : blob.weights) key += '\0' + std::to_string(pool_.place(w));
    std::vector<uint32_t> graphs;
    for (const backend::InnerGraph& g : blob.graphs) {
      key += "\0graph " + std::to_string(g.number);
      graphs.push_back(g.number);
    }
    const auto [at, is_new] = blobs_.try_emplace(std::move(key), static_cast<uint32_t>(out_.blobs.size()));
    if (is_new) out_.blobs.push_back({backend, std::move(blob.bytes), std::move(graphs)});
    return at->second;
  }

  /// Adds a buffer of a segment's weight; returns its number.
  uint32_t add_weight(const ir::ConstantRef& constant) {
    BufferInfo b;
    b.kind = BufferInfo::Kind::weight;
    b.dtype = constant->dtype;
    for (int64_t size : constant->shape) b.shape.push_back(sizes_.slot(size));
    b.offset = pool_.place(constant);
    b.first = kMissing;
    out_.buffers.push_back(std::move(b));
    return static_cast<uint32_t>(out_.buffers.size() - 1);
  }

  /// Adds a step without a kernel, with its results and the sizes that it binds.
  Result<void> finish_step(const Group& group, Step s) {
    for (size_t k = 0; k < group.outputs.size(); ++k) {
      const ArrayId a = group.outputs[k];
      s.results.push_back(TRY(buffer(a)));
      if (a < 0) continue;
      const DimList& shape = plan_.arrays[a].shape;
      for (size_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && sizes_.is_bound_by(n, static_cast<uint32_t>(out_.steps.size())))
          s.bindings.push_back({sizes_.slot(shape[d]), static_cast<uint32_t>(k), static_cast<uint32_t>(d)});
    }
    for (uint32_t b : s.buffers) extend_life(out_, b);
    for (uint32_t b : s.results) extend_life(out_, b);
    out_.steps.push_back(std::move(s));
    return {};
  }

  Result<void> add_control(const Group& group) {
    const ir::Node& node = graph_.node(group.node);
    const bool is_loop = ops::def_of(*node.op).control == ops::Control::loop;
    Bodies& bodies = bodies_.at(group.node);
    const auto first_body = static_cast<uint32_t>(body_trees_.size());
    Step s = start(runtime::BranchStep{first_body});
    if (is_loop) s.kind = runtime::LoopStep{first_body, node.explicit_inputs > 2 ? node.explicit_inputs - 2 : 0};
    s.label = graph_.view(group.node).where();
    for (uint32_t k = 0; k < (is_loop ? 2u : 1u); ++k)
      s.buffers.push_back(k < node.explicit_inputs ? TRY(buffer(group.inputs[k])) : kMissing);
    for (uint32_t k = 2; k < node.explicit_inputs; ++k) s.buffers.push_back(TRY(buffer(group.inputs[k])));
    for (size_t b : order_of_bodies(node)) {
      for (uint32_t k = 0; k < node.bodies[b].captures; ++k)
        s.buffers.push_back(TRY(buffer(group.inputs[node.bodies[b].first_capture + k])));
      renumber_outer(bodies[b].tree.program, static_cast<uint32_t>(s.sizes.size()));
      for (Dim d : bodies[b].outer) s.sizes.push_back(sizes_.slot(d));
      body_trees_.push_back(std::move(bodies[b].tree));
    }
    TRY(finish_step(group, std::move(s)));
    if (is_loop) out_.steps.back().results.resize(body_trees_.back().program.outputs.size() - 1, kMissing);
    return {};
  }

  Result<void> add_check(const Group& group) {
    Step s = start(runtime::CheckStep{group.as<codegen::CheckGroup>().limit.from_end});
    for (ArrayId a : group.inputs) s.buffers.push_back(TRY(buffer(a)));
    for (uint32_t b : s.buffers) extend_life(out_, b);
    s.sizes = {sizes_.slot(group.as<codegen::CheckGroup>().limit.extent)};
    s.label = graph_.view(group.node).where();
    out_.steps.push_back(std::move(s));
    return {};
  }

  Result<void> add_rows(const Group& group) {
    Step s = start(runtime::RowsStep());
    s.buffers = {TRY(buffer(group.inputs[0]))};
    s.sizes = slots(plan_.arrays[group.inputs[0]].shape);
    s.label = graph_.view(group.node).where();
    return finish_step(group, std::move(s));
  }

  /// Numbers of the node's bodies in the order of the step's: of a branch, the one for a true condition comes first.
  static std::vector<size_t> order_of_bodies(const ir::Node& node) {
    if (node.bodies.size() < 2) return {0};
    return node.bodies[0].name == "else_branch" ? std::vector<size_t>{1, 0} : std::vector<size_t>{0, 1};
  }

  /// Adds `first` to the numbers of the sizes that a body reads from this program: those of an earlier body come first in the step.
  static void renumber_outer(Program& body, uint32_t first) {
    for (runtime::SizeLine& l : body.sizes)
      if (l.kind == runtime::SizeLine::Kind::outer) l.a += first;
  }

  LoweredGraph lowered_;
  const ir::Graph& graph_;
  const Plan& plan_;
  Pool& pool_;
  Program out_;
  std::vector<ProgramTree> body_trees_;  ///< in the order of the steps that run them
  StepOrigins origins_;
  SizeTable sizes_;
  std::vector<uint32_t> numbers_;                    ///< of buffers, by array; kMissing: none yet
  std::vector<bool> is_lookup_table_;                ///< by array
  std::vector<bool> dynamic_;                        ///< by array: the step that computes it allocates its memory
  std::unordered_map<ir::NodeId, Bodies> bodies_;    ///< of each control node, until its step is added
  const Group* group_by_units_ = nullptr;            ///< group of the step before, where its tasks are numbered by units of a region
  std::unordered_map<std::string, uint32_t> blobs_;  ///< number of each blob by its contents: see blob_number()
};

}  // namespace

Result<BuiltProgram> build_program(LoweredGraph lowered, Pool& pool) { return ProgramBuilder(std::move(lowered), pool).run(); }

}  // namespace tenon::program
