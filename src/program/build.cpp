// SPDX-License-Identifier: Apache-2.0
#include "program/build.h"

#include <algorithm>
#include <unordered_map>

#include "base/checked.h"
#include "program/opaque_text.h"
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
using runtime::Slot;
using runtime::Step;

class ProgramBuilder {
 public:
  ProgramBuilder(const ir::Graph& graph, const Plan& plan, std::vector<std::vector<Kernel>> lowered)
      : graph_(graph), plan_(plan), lowered_(std::move(lowered)), numbers_(plan.arrays.size(), kMissing) {}

  Result<Built> run() {
    bind_symbols();
    want_all();
    TRY(sizes_.finish(out_.program));
    TRY(add_ports());
    for (size_t g = 0; g < plan_.groups.size(); ++g) TRY(add_group(plan_.groups[g], lowered_[g]));
    finish_lives();
    out_.program.weight_bytes = weight_bytes_;
    return std::move(out_);
  }

 private:
  static bool stepless(const Group& g) { return g.kind == GroupKind::opaque || g.kind == GroupKind::control; }

  /// Symbols come from input shapes, or from the shapes that opaque steps give.
  void bind_symbols() {
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      const DimList& shape = plan_.arrays[plan_.inputs[i]].shape;
      for (size_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && n->kind == DimNode::Kind::symbol)
          sizes_.from_input(n, static_cast<uint32_t>(i), static_cast<uint32_t>(d));
    }
    uint32_t step = 0;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      if (stepless(group)) {
        for (bool bare : {true, false})  // first the symbols that stand alone: the others may be made of them
          for (ArrayId a : group.outputs) {
            if (a < 0) continue;
            for (Dim d : plan_.arrays[a].shape)
              if (const DimNode* n = d.node(); n && (n->kind == DimNode::Kind::symbol) == bare && (bare || !sizes_.knows(d)))
                sizes_.from_step(n, step);
          }
        ++step;
      } else {
        step += group.kind == GroupKind::sizes ? 1 : static_cast<uint32_t>(lowered_[g].size());
      }
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
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const Group& group = plan_.groups[g];
      for (const Kernel& k : lowered_[g]) {
        want(k.sizes);
        want({k.tasks, k.grain, k.flops});
        for (ArrayId a : k.arguments) want(plan_.arrays[a].shape);
      }
      for (const auto* list : {&group.inputs, &group.outputs})
        for (ArrayId a : *list)
          for (; a >= 0; a = plan_.arrays[a].same_bytes) want(plan_.arrays[a].shape);
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
      port.shape = slots(array.shape);
      for (Dim d : array.shape) {
        port.dimensions.push_back(d.text());
        port.lower.push_back(d.lower());
        port.upper.push_back(d.upper());
      }
      ports.push_back(std::move(port));
    };
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      add(plan_.inputs[i], out_.program.inputs, graph_.value(graph_.inputs()[i]).name);
      for (const codegen::IndexLimit& l : plan_.limits)
        if (l.input == plan_.inputs[i]) out_.program.inputs.back().limits.push_back({sizes_.slot(l.extent), l.from_end});
      BufferInfo b = info(plan_.inputs[i]);
      b.kind = BufferInfo::Kind::input;
      b.index = static_cast<uint32_t>(i);
      out_.program.inputs.back().buffer = number(plan_.inputs[i], std::move(b));
    }
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      add(plan_.outputs[o], out_.program.outputs, graph_.output_name(static_cast<uint32_t>(o)));
      BufferInfo b = info(plan_.outputs[o]);
      b.kind = made_by_opaque(plan_.outputs[o]) ? BufferInfo::Kind::dynamic : BufferInfo::Kind::output;
      b.index = static_cast<uint32_t>(o);
      out_.program.outputs.back().buffer = number(plan_.outputs[o], std::move(b));
    }
    return {};
  }

  bool made_by_opaque(ArrayId a) {
    if (dynamic_.empty()) {
      dynamic_.assign(plan_.arrays.size(), false);
      for (const Group& g : plan_.groups)
        if (stepless(g))
          for (ArrayId x : g.outputs)
            if (x >= 0) dynamic_[x] = true;
    }
    return dynamic_[a];
  }

  BufferInfo info(ArrayId a) const {
    BufferInfo b;
    b.dtype = plan_.arrays[a].dtype;
    b.shape = slots(plan_.arrays[a].shape);
    if (plan_.arrays[a].value) b.name = graph_.value(plan_.arrays[a].value).name;
    return b;
  }

  uint32_t number(ArrayId a, BufferInfo b) {
    b.first = kMissing;
    out_.program.buffers.push_back(std::move(b));
    return numbers_[a] = static_cast<uint32_t>(out_.program.buffers.size() - 1);
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
      b.offset = place(array.constant);
    } else if (array.same_bytes >= 0) {
      b.kind = BufferInfo::Kind::alias;
      b.index = TRY(buffer(array.same_bytes));
      if (out_.program.buffers[b.index].kind == BufferInfo::Kind::alias) b.index = out_.program.buffers[b.index].index;
    } else {
      b.kind = made_by_opaque(a) ? BufferInfo::Kind::dynamic : BufferInfo::Kind::arena;
    }
    return number(a, std::move(b));
  }

  /// Weights start at 64-byte borders, with room behind them that a kernel may read.
  uint64_t place(const ir::ConstantRef& c) {
    auto [found, fresh] = places_.try_emplace(c.get(), weight_bytes_);
    if (!fresh) return found->second;
    out_.weights.push_back({c, weight_bytes_});
    weight_bytes_ =
        static_cast<uint64_t>(round_up(static_cast<int64_t>(weight_bytes_) + c->byte_size() + static_cast<int64_t>(runtime::kSlack), 64));
    return found->second;
  }

  void touch(uint32_t b) {
    if (b == kMissing) return;
    BufferInfo& info = out_.program.buffers[b];
    const uint32_t step = static_cast<uint32_t>(out_.program.steps.size());
    if (info.kind == BufferInfo::Kind::alias) return touch(info.index);
    info.first = std::min(info.first, step);
    info.last = std::max(info.last, step);
  }

  Result<void> add_group(const Group& group, std::vector<Kernel>& lowered) {
    for (Kernel& k : lowered) TRY(add_kernel(k));
    if (stepless(group)) return add_opaque(group);
    if (group.kind == GroupKind::sizes) {
      Step s = start(Step::Kind::sizes);
      s.buffers = {TRY(buffer(group.outputs[0]))};
      s.sizes = slots(*graph_.value(plan_.arrays[group.outputs[0]].value).data);
      s.label = "Sizes";
      touch(s.buffers[0]);
      out_.program.steps.push_back(std::move(s));
    }
    return {};
  }

  Step start(Step::Kind kind) const {
    Step s;
    s.kind = kind;
    s.lines = sizes_.lines_before(static_cast<uint32_t>(out_.program.steps.size()));
    s.tasks = s.grain = sizes_.slot(1);
    s.flops = sizes_.slot(0);
    return s;
  }

  Result<void> add_kernel(Kernel& kernel) {
    Step s = start(Step::Kind::kernel);
    for (ArrayId a : kernel.arguments) s.buffers.push_back(TRY(buffer(a)));
    for (uint32_t b : s.buffers) touch(b);
    s.sizes = slots(kernel.sizes);
    s.tasks = sizes_.slot(kernel.tasks);
    s.grain = sizes_.slot(kernel.grain);
    s.flops = sizes_.slot(kernel.flops);
    s.scratch_bytes = static_cast<uint64_t>(kernel.tile.scratch_bytes());
    s.label = label(kernel.nodes);
    // Equal code is generated once: what differs between layers are buffers and sizes.
    auto [found, fresh] = code_.try_emplace(codegen::text_of(kernel.tile), static_cast<uint32_t>(out_.kernels.size()));
    s.code = found->second;
    if (fresh) out_.kernels.push_back(std::move(kernel.tile));
    out_.program.steps.push_back(std::move(s));
    return {};
  }

  std::string label(const std::vector<ir::NodeId>& nodes) const {
    std::string text;
    std::vector<std::string> seen;
    for (ir::NodeId n : nodes) {
      const std::string& op = graph_.node(n).op->name;
      if (std::find(seen.begin(), seen.end(), op) != seen.end()) continue;
      seen.push_back(op);
      text += (text.empty() ? "" : "+") + op;
    }
    return text.empty() ? "Copy" : text;
  }

  Result<void> add_opaque(const Group& group) {
    const ir::Node& node = graph_.node(group.node);
    const OpaqueText text = TRY(opaque_text(graph_, group.node));
    Step s = start(Step::Kind::opaque);
    s.code = static_cast<uint32_t>(out_.program.opaque.size());
    out_.program.opaque.push_back(text.text);
    out_.opaque_ops.push_back(node.op->name);
    for (size_t k : text.operands) s.buffers.push_back(TRY(buffer(group.inputs[k])));
    for (size_t k = 0; k < group.outputs.size(); ++k) {
      const ArrayId a = group.outputs[k];
      s.results.push_back(TRY(buffer(a)));
      if (a < 0) continue;
      const DimList& shape = plan_.arrays[a].shape;
      for (size_t d = 0; d < shape.size(); ++d)
        if (const DimNode* n = shape[d].node(); n && sizes_.is_bound_by(n, static_cast<uint32_t>(out_.program.steps.size())))
          s.bindings.push_back({sizes_.slot(shape[d]), static_cast<uint32_t>(k), static_cast<uint32_t>(d)});
    }
    for (uint32_t b : s.buffers) touch(b);
    for (uint32_t b : s.results) touch(b);
    s.label = node.op->name;
    out_.program.steps.push_back(std::move(s));
    return {};
  }

  void finish_lives() {
    for (BufferInfo& b : out_.program.buffers)
      if (b.first == kMissing) b.first = b.last = 0;
  }

  const ir::Graph& graph_;
  const Plan& plan_;
  std::vector<std::vector<Kernel>> lowered_;
  Built out_;
  SizeTable sizes_;
  std::vector<uint32_t> numbers_;
  std::vector<bool> dynamic_;
  std::unordered_map<const ir::Constant*, uint64_t> places_;
  std::unordered_map<std::string, uint32_t> code_;
  uint64_t weight_bytes_ = 0;
};

}  // namespace

Result<Built> build(const ir::Graph& graph, const Plan& plan, std::vector<std::vector<Kernel>> lowered) {
  TENON_ASSERT(lowered.size() == plan.groups.size());
  return ProgramBuilder(graph, plan, std::move(lowered)).run();
}

}  // namespace tenon::program
