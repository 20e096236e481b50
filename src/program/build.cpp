// SPDX-License-Identifier: Apache-2.0
#include "program/build.h"
#include "program/guards.h"
#include "program/label.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "ops/core/op.h"
#include "program/least_sizes.h"
#include "program/opaque_text.h"
#include "program/pool.h"
#include "program/size_table.h"

namespace tenon::program {

namespace {

using codegen::ArrayId;
using codegen::Group;
using codegen::GroupKind;
using codegen::Kernel;
using codegen::Plan;
using runtime::BufferInfo;
using runtime::kMissing;
using runtime::PortInfo;
using runtime::Program;
using runtime::Slot;
using runtime::Step;

/// What a branch or loop runs.
struct Bodies {
  std::vector<Program> programs;
  std::vector<std::vector<Dim>> outer;  ///< sizes that each asks for
};

class ProgramBuilder {
 public:
  ProgramBuilder(Lowered lowered, Pool& pool)
      : lowered_(std::move(lowered)), graph_(*lowered_.graph), plan_(lowered_.plan), pool_(pool), numbers_(plan_.arrays.size(), kMissing) {}

  Result<Program> run() {
    for (const Group& g : plan_.groups)
      if (g.kind == GroupKind::control) TRY(add_bodies(g));
    bind_symbols();
    want_all();
    TRY(sizes_.finish(out_));
    out_.guards = guards_of(plan_.assumptions, sizes_);
    TRY(add_ports());
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      TRY(add_group(plan_.groups[g], lowered_.kernels[g]));
      group_of_step_.resize(out_.steps.size(), static_cast<uint32_t>(g));
    }
    finish_lives();
    return std::move(out_);
  }
  const std::vector<Dim>& outer() const { return sizes_.outer(); }
  std::vector<uint32_t> take_group_of_step() { return std::move(group_of_step_); }

 private:
  static bool stepless(const Group& g) { return g.kind == GroupKind::opaque || g.kind == GroupKind::control; }

  Result<void> add_bodies(const Group& group) {
    Bodies bodies;
    for (Lowered& body : lowered_.bodies.at(group.node)) {
      ProgramBuilder builder(std::move(body), pool_);
      bodies.programs.push_back(TRY(builder.run()));
      bodies.outer.push_back(builder.outer());
    }
    bodies_.emplace(group.node, std::move(bodies));
    return {};
  }

  /// Symbols come from input shapes, from outside, or from the shapes that steps without kernels give.
  void bind_symbols() {
    for (const DimNode* symbol : plan_.given) sizes_.from_outside(symbol);  // first: what a body gets must be what the graph around it says
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      const DimList& shape = plan_.arrays[plan_.inputs[i]].shape;
      for (size_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && n->kind == DimNode::Kind::symbol)
          sizes_.from_input(n, static_cast<uint32_t>(i), static_cast<uint32_t>(d));
    }
    dynamic_.assign(plan_.arrays.size(), false);
    uint32_t step = 0;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      if (stepless(group)) bind_results(group, step++);
      else step += group.kind == GroupKind::sizes || group.kind == GroupKind::check ? 1 : static_cast<uint32_t>(lowered_.kernels[g].size());
    }
  }

  /// Sizes that this step's results tell, and which of the results have no buffer before it has run.
  void bind_results(const Group& group, uint32_t step) {
    for (bool bare : {true, false})  // first the symbols that stand alone: the others may be made of them
      for (ArrayId a : group.outputs) {
        if (a < 0) continue;
        for (Dim d : plan_.arrays[a].shape)
          if (const DimNode* n = d.node(); n && (n->kind == DimNode::Kind::symbol) == bare && (bare || !sizes_.knows(d)))
            sizes_.from_step(n, step);
      }
    for (ArrayId a : group.outputs) {
      if (a < 0) continue;
      const codegen::Array& array = plan_.arrays[a];
      auto told = [&](Dim d) { return d.node() && sizes_.is_bound_by(d.node(), step); };
      dynamic_[a] = group.kind == GroupKind::opaque || array.dtype == DType::string || held(a).kind != ValueKind::tensor ||
                    std::ranges::any_of(array.shape, told);
    }
  }

  void want(const DimList& dims) {
    for (Dim d : dims) sizes_.want(d);
  }

  void want_all() {
    sizes_.want(0);
    sizes_.want(1);
    for (ArrayId a : plan_.inputs) want(plan_.arrays[a].shape);
    for (ArrayId a : plan_.outputs) want(plan_.arrays[a].shape);
    for (const codegen::IndexLimit& l : plan_.limits) sizes_.want(l.extent);
    want_guards(plan_.assumptions, sizes_);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      for (const Kernel& k : lowered_.kernels[g]) {
        want(k.sizes);
        want({k.tasks, k.grain, k.flops});
        for (ArrayId a : k.arguments)
          for (; a >= 0; a = plan_.arrays[a].same_bytes) want(plan_.arrays[a].shape);
      }
      for (const auto* list : {&group.inputs, &group.outputs})
        for (ArrayId a : *list)
          for (; a >= 0; a = plan_.arrays[a].same_bytes) want(plan_.arrays[a].shape);
      if (group.kind == GroupKind::control)
        for (const auto& outer : bodies_.at(group.node).outer)
          for (Dim d : outer) sizes_.want(d);
      if (group.kind == GroupKind::check) sizes_.want(group.limit.extent);
      if (group.kind == GroupKind::sizes) want(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
    }
  }

  std::vector<Slot> slots(const DimList& dims) const {
    std::vector<Slot> out;
    for (Dim d : dims) out.push_back(sizes_.slot(d));
    return out;
  }

  Result<void> add_ports() {
    auto add = [&](ArrayId a, std::vector<PortInfo>& ports, std::string name) {
      const codegen::Array& array = plan_.arrays[a];
      PortInfo port;
      port.name = std::move(name);
      port.dtype = array.dtype;
      port.held = held(a);
      port.shape = slots(array.shape);
      for (Dim d : array.shape) {
        port.dimensions.push_back(d.text());
        const DimNode* n = d.node();
        const bool is_symbol = n && n->kind == DimNode::Kind::symbol;
        port.lower.push_back(is_symbol ? least_size(*n, plan_.assumptions) : d.lower());
        port.upper.push_back(d.upper());
      }
      ports.push_back(std::move(port));
    };
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      add(plan_.inputs[i], out_.inputs, graph_.value(graph_.inputs()[i]).name);
      for (const codegen::IndexLimit& l : plan_.limits)
        if (l.input == plan_.inputs[i]) out_.inputs.back().limits.push_back({sizes_.slot(l.extent), l.from_end});
      BufferInfo b = info(plan_.inputs[i]);
      b.kind = BufferInfo::Kind::input;
      b.index = static_cast<uint32_t>(i);
      out_.inputs.back().buffer = number(plan_.inputs[i], std::move(b));
    }
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      add(plan_.outputs[o], out_.outputs, graph_.output_name(static_cast<uint32_t>(o)));
      const uint32_t known = numbers_[plan_.outputs[o]];
      if (known != kMissing && out_.outputs.back().held.kind != ValueKind::tensor) {  // an input, or a result of two names
        out_.outputs.back().buffer = known;
        continue;
      }
      BufferInfo b = info(plan_.outputs[o]);
      b.kind = dynamic_[plan_.outputs[o]] ? BufferInfo::Kind::dynamic : BufferInfo::Kind::output;
      b.index = static_cast<uint32_t>(o);
      out_.outputs.back().buffer = number(plan_.outputs[o], std::move(b));
    }
    return {};
  }

  runtime::Held held(ArrayId a) const {
    const ir::ValueId v = plan_.arrays[a].value;
    return v ? held_of(graph_.value(v).type) : runtime::Held();
  }

  BufferInfo info(ArrayId a) const {
    BufferInfo b;
    b.dtype = plan_.arrays[a].dtype;
    b.shape = slots(plan_.arrays[a].shape);
    if (const ir::ValueId v = plan_.arrays[a].value) {
      b.name = graph_.value(v).name;
      b.unranked = !graph_.value(v).type.has_rank();
      b.held = held(a);
    }
    return b;
  }

  uint32_t number(ArrayId a, BufferInfo b) {
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
      b.offset = pool_.place(array.constant);
    } else if (array.same_bytes >= 0) {
      b.kind = BufferInfo::Kind::alias;
      b.index = TRY(buffer(array.same_bytes));
      if (out_.buffers[b.index].kind == BufferInfo::Kind::alias) b.index = out_.buffers[b.index].index;
    } else {
      b.kind = dynamic_[a] ? BufferInfo::Kind::dynamic : BufferInfo::Kind::arena;
    }
    return number(a, std::move(b));
  }

  void touch(uint32_t b) {
    if (b == kMissing) return;
    BufferInfo& info = out_.buffers[b];
    const uint32_t step = static_cast<uint32_t>(out_.steps.size());
    if (info.kind == BufferInfo::Kind::alias) return touch(info.index);
    info.first = std::min(info.first, step);
    info.last = std::max(info.last, step);
  }

  Result<void> add_group(const Group& group, std::vector<Kernel>& lowered) {
    for (Kernel& k : lowered) TRY(add_kernel(k));
    if (group.kind == GroupKind::opaque) return add_opaque(group);
    if (group.kind == GroupKind::control) return add_control(group);
    if (group.kind == GroupKind::check) return add_check(group);
    if (group.kind == GroupKind::sizes) {
      Step s = start(Step::Kind::sizes);
      s.buffers = {TRY(buffer(group.outputs[0]))};
      s.sizes = slots(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
      s.label = "Sizes";
      touch(s.buffers[0]);
      out_.steps.push_back(std::move(s));
    }
    return {};
  }

  Step start(Step::Kind kind) const {
    Step s;
    s.kind = kind;
    s.lines = sizes_.lines_before(static_cast<uint32_t>(out_.steps.size()));
    s.tasks = s.grain = sizes_.slot(1);
    s.flops = sizes_.slot(0);
    return s;
  }

  /// The array that a reshaped one shares its bytes with: a kernel is given those.
  ArrayId whose_bytes(ArrayId a) const {
    while (plan_.arrays[a].same_bytes >= 0) a = plan_.arrays[a].same_bytes;
    return a;
  }

  Result<void> add_kernel(Kernel& kernel) {
    Step s = start(Step::Kind::kernel);
    for (ArrayId a : kernel.arguments) s.buffers.push_back(TRY(buffer(whose_bytes(a))));
    for (uint32_t b : s.buffers) touch(b);
    s.sizes = slots(kernel.sizes);
    s.tasks = sizes_.slot(kernel.tasks);
    s.grain = sizes_.slot(kernel.grain);
    s.flops = sizes_.slot(kernel.flops);
    s.scratch_bytes = static_cast<uint64_t>(kernel.tile.scratch_bytes());
    s.label = label_of(graph_, kernel.nodes);
    s.code = pool_.code(std::move(kernel.tile), std::move(kernel.tactic));
    out_.steps.push_back(std::move(s));
    return {};
  }

  Result<void> add_opaque(const Group& group) {
    const ir::Node& node = graph_.node(group.node);
    const OpaqueText text = TRY(opaque_text(graph_, group.node));
    Step s = start(Step::Kind::opaque);
    s.code = static_cast<uint32_t>(out_.opaque.size());
    out_.opaque.push_back(text.text);
    pool_.note_opaque(node.op->name);
    for (size_t k : text.operands) s.buffers.push_back(TRY(buffer(group.inputs[k])));
    return finish_step(group, std::move(s));
  }

  /// Results, bindings and lives of a step without a kernel.
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
    for (uint32_t b : s.buffers) touch(b);
    for (uint32_t b : s.results) touch(b);
    s.label = graph_.view(group.node).where();
    out_.steps.push_back(std::move(s));
    return {};
  }

  Result<void> add_control(const Group& group) {
    const ir::Node& node = graph_.node(group.node);
    const bool loops = ops::def_of(*node.op).control == ops::Control::loop;
    Bodies& bodies = bodies_.at(group.node);
    Step s = start(loops ? Step::Kind::loop : Step::Kind::branch);
    s.code = static_cast<uint32_t>(out_.bodies.size());
    for (uint32_t k = 0; k < (loops ? 2u : 1u); ++k)
      s.buffers.push_back(k < node.explicit_inputs ? TRY(buffer(group.inputs[k])) : kMissing);
    for (uint32_t k = 2; k < node.explicit_inputs; ++k) s.buffers.push_back(TRY(buffer(group.inputs[k])));
    if (loops) s.carried = node.explicit_inputs > 2 ? node.explicit_inputs - 2 : 0;
    for (size_t b : order_of_bodies(node)) {
      for (uint32_t k = 0; k < node.bodies[b].captures; ++k)
        s.buffers.push_back(TRY(buffer(group.inputs[node.bodies[b].first_capture + k])));
      renumber_outer(bodies.programs[b], static_cast<uint32_t>(s.sizes.size()));
      for (Dim d : bodies.outer[b]) s.sizes.push_back(sizes_.slot(d));
      out_.bodies.push_back(std::move(bodies.programs[b]));
    }
    TRY(finish_step(group, std::move(s)));
    if (loops) out_.steps.back().results.resize(out_.bodies.back().outputs.size() - 1, kMissing);
    return {};
  }

  Result<void> add_check(const Group& group) {
    Step s = start(Step::Kind::check);
    for (ArrayId a : group.inputs) s.buffers.push_back(TRY(buffer(a)));
    for (uint32_t b : s.buffers) touch(b);
    s.sizes = {sizes_.slot(group.limit.extent)};
    s.code = group.limit.from_end ? 1 : 0;
    s.label = graph_.view(group.node).where();
    out_.steps.push_back(std::move(s));
    return {};
  }

  /// What runs where the condition holds comes first.
  static std::vector<size_t> order_of_bodies(const ir::Node& node) {
    if (node.bodies.size() < 2) return {0};
    return node.bodies[0].name == "else_branch" ? std::vector<size_t>{1, 0} : std::vector<size_t>{0, 1};
  }

  static void renumber_outer(Program& body, uint32_t by) {
    for (runtime::SizeLine& l : body.sizes)
      if (l.kind == runtime::SizeLine::Kind::outer) l.a += by;
  }

  void finish_lives() {
    for (BufferInfo& b : out_.buffers)
      if (b.first == kMissing) b.first = b.last = 0;
  }

  Lowered lowered_;
  const ir::Graph& graph_;
  const Plan& plan_;
  Pool& pool_;
  Program out_;
  std::vector<uint32_t> group_of_step_;
  SizeTable sizes_;
  std::vector<uint32_t> numbers_;
  std::vector<bool> dynamic_;  ///< by array: its memory comes with the step that makes it
  std::unordered_map<ir::NodeId, Bodies> bodies_;
};

}  // namespace

runtime::Held held_of(const ir::Type& type) {
  runtime::Held out{.kind = type.kind, .sizes = {}, .key = type.key};
  if (type.is_tensor()) return out;
  out.unranked = !type.has_rank();
  if (type.has_rank())
    for (Dim d : *type.shape) out.sizes.push_back(d.is_number() ? d.value() : -1);
  return out;
}

Result<Built> build(Lowered lowered) {
  TENON_ASSERT(lowered.kernels.size() == lowered.plan.groups.size());
  Built out;
  Pool pool(out);
  ProgramBuilder builder(std::move(lowered), pool);
  out.program = TRY(builder.run());
  out.group_of_step = builder.take_group_of_step();
  out.program.weight_bytes = pool.weight_bytes();
  return out;
}

}  // namespace tenon::program
