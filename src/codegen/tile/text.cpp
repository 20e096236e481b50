// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "codegen/tile/scalar.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {
namespace {

class Printer {
 public:
  explicit Printer(const TileKernel& kernel) : kernel_(kernel) {}

  std::string kernel() {
    out_ = fmt::format("kernel {} sizes={}\n", kernel_.name, kernel_.sizes);
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& b = kernel_.buffers[i];
      if (b.kind == Buffer::Kind::scratch) out_ += fmt::format("  b{} = scratch {}[{}]\n", i, name_of(b.dtype), b.scratch_count);
      else out_ += fmt::format("  b{} = argument {} {}{}\n", i, b.argument, name_of(b.dtype), b.written ? " written" : "");
    }
    block(kernel_.body, 1);
    return std::move(out_);
  }

 private:
  std::string reg(Reg r) const { return r == kNone ? "_" : "%" + fmt::format_int(r).str(); }
  std::string regs(const std::vector<Reg>& list) const {
    std::string s;
    for (Reg r : list) s += (s.empty() ? "" : ", ") + reg(r);
    return s;
  }
  std::string type(const TileType& t) const {
    return t.lanes == 1 ? std::string(name_of(t.element)) : fmt::format("{}x{}", name_of(t.element), t.lanes);
  }
  std::string number(const TileInstr& in) const {
    return is_float(in.type.element) ? fmt::format("{}", in.number) : fmt::format("{}", in.integer);
  }

  void block(const TileBlock& instructions, int depth) {
    for (const TileInstr& in : instructions) {
      out_.append(2 * depth, ' ');
      instruction(in, depth);
      out_ += '\n';
    }
  }

  void nested(const TileBlock& body, const std::vector<Reg>& yields, int depth) {
    out_ += " {\n";
    block(body, depth + 1);
    if (!yields.empty()) out_ += fmt::format("{:{}}yield {}\n", "", 2 * depth + 2, regs(yields));
    out_ += fmt::format("{:{}}}}", "", 2 * depth);
  }

  void instruction(const TileInstr& in, int depth) {
    if (in.result != kNone) out_ += fmt::format("{}: {} = ", reg(in.result), type(in.type));
    switch (in.op) {
      case TileOp::constant: out_ += "constant " + number(in); return;
      case TileOp::size: out_ += fmt::format("size {}", in.index); return;
      case TileOp::expr: out_ += fmt::format("{} {}", name_of(in.expr_op), regs(in.args)); return;
      case TileOp::reduce: out_ += fmt::format("reduce {} {}", name_of(in.combine), regs(in.args)); return;
      case TileOp::load:
      case TileOp::store:
      case TileOp::prefetch: memory(in); return;
      case TileOp::loop: loop(in, depth); return;
      case TileOp::branch: branch(in, depth); return;
      case TileOp::contract: contract(in.contract); return;
      case TileOp::transpose: out_ += fmt::format("{}: {} = transpose {}", regs(in.results), type(in.type), regs(in.args)); return;
      default: out_ += fmt::format("{} {}", name_of(in.op), regs(in.args)); return;
    }
  }

  void memory(const TileInstr& in) {
    const Reg offset = in.op == TileOp::store ? in.args[1] : in.args[0];
    out_ += fmt::format("{} b{}[{}]", name_of(in.op), in.buffer, reg(offset));
    if (in.op == TileOp::store) out_ += fmt::format(", {}: {}", reg(in.args[0]), type(in.type));
    if (in.words) out_ += " words";
    if (in.broadcast) out_ += " broadcast";
    if (in.stride != kNone) out_ += " stride=" + reg(in.stride);
    if (in.offsets != kNone) out_ += " offsets=" + reg(in.offsets);
    if (in.mask != kNone) out_ += " mask=" + reg(in.mask);
    if (in.fill != kNone) out_ += " fill=" + reg(in.fill);
    if (in.streaming) out_ += " streaming";
  }

  void loop(const TileInstr& in, int depth) {
    if (!in.results.empty()) out_ += regs(in.results) + " = ";
    out_ += fmt::format("loop {} from {} to {} step {}", reg(in.induction), reg(in.args[0]), reg(in.args[1]), reg(in.args[2]));
    if (in.unroll > 1) out_ += fmt::format(" unroll {}", in.unroll);
    for (size_t i = 0; i < in.carried.size(); ++i)
      out_ += fmt::format("{}{} = {}", i ? ", " : " carry ", reg(in.carried[i]), reg(in.carried_in[i]));
    nested(in.body, in.yields, depth);
  }

  void branch(const TileInstr& in, int depth) {
    if (!in.results.empty()) out_ += regs(in.results) + " = ";
    out_ += "branch " + reg(in.args[0]);
    nested(in.body, in.yields, depth);
    if (in.otherwise.empty() && in.otherwise_yields.empty()) return;
    out_ += " else";
    nested(in.otherwise, in.otherwise_yields, depth);
  }

  void contract(const Contract& c) {
    out_ += fmt::format("{} = contract {} {}x({}x{}) depth={} a=b{}[{}] row={} k={} b=b{}[{}] k={}", regs(c.accumulators_out),
                        name_of(c.accumulator), c.rows, c.vectors, c.lanes, reg(c.depth), c.a, reg(c.a_offset), reg(c.a_row_stride),
                        reg(c.a_k_stride), c.b, reg(c.b_offset), reg(c.b_k_stride));
    if (c.scale >= 0) out_ += fmt::format(" scale=b{}[{}] k={}", c.scale, reg(c.scale_offset), reg(c.scale_k_stride));
    if (c.rows_per_line > 0) out_ += fmt::format(" lines of {} by {}", c.rows_per_line, reg(c.a_line_stride));
    if (c.products != 1) out_ += fmt::format(" products={}", c.products);
    if (c.in_order) out_ += " in order";
    if (c.b_mask != kNone) out_ += " mask=" + reg(c.b_mask);
    if (c.prefetch_from != kNone) out_ += " fetch=" + reg(c.prefetch_from);
    if (c.prefetch_b_bytes) out_ += fmt::format(" prefetch={}", c.prefetch_b_bytes);
    out_ += fmt::format(" from ({})", regs(c.accumulators_in));
  }

  const TileKernel& kernel_;
  std::string out_;
};

}  // namespace

std::string text_of(const TileKernel& kernel) { return Printer(kernel).kernel(); }

}  // namespace tenon::codegen
