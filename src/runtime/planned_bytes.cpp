// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/tensor.h"
#include "runtime/program_table.h"

namespace tenon::runtime {

namespace {

/// Shapes of a body's inputs; nullopt where one is known only while the program runs. first: index in Step::buffers of its first operand;
/// formal_inputs: inputs before the operands (iteration and condition of a loop).
std::optional<std::vector<Sizes>> body_shapes(const Program& p, const Step& step, const Program& body, size_t first, size_t formal_inputs,
                                              const std::vector<int64_t>& sizes) {
  std::vector<Sizes> shapes(formal_inputs);
  for (size_t k = formal_inputs; k < body.inputs.size(); ++k) {
    Sizes& shape = shapes.emplace_back();
    const uint32_t b = step.buffers[first + k - formal_inputs];
    if (b == kMissing || sized_late(p, p.buffers[b]) || p.buffers[b].shape.size() != body.inputs[k].shape.size()) return std::nullopt;
    for (Slot s : p.buffers[b].shape) shape.push_back(sizes[s]);
  }
  return shapes;
}

Result<int64_t> row_count(const Step& packing, const std::vector<int64_t>& sizes) {
  const auto count = checked_count(Sizes{sizes[packing.sizes[0]], sizes[packing.sizes[1]]});
  if (count && *count <= (int64_t{1} << 45)) return *count;
  return fail(Code::size_overflow, packing.label, "there are too many rows").expected("at most 2^45").advice("give smaller inputs");
}

/// Bytes of the results of a loop's body, which has two buffers for each: of this iteration and of the one before.
Result<uint64_t> result_bytes(const Program& body, const std::vector<int64_t>& sizes) {
  uint64_t bytes = 0;
  for (const PortInfo& port : body.outputs) {
    if (sized_late(body, body.buffers[port.buffer])) continue;
    Sizes shape;
    for (Slot s : port.shape) shape.push_back(sizes[s]);
    const auto count = checked_count(shape);
    if (!count || *count > (int64_t{1} << 45))
      return fail(Code::size_overflow, "value '" + port.name + "'", "an intermediate value is too large")
          .expected("at most 2^45 elements")
          .found(count ? std::to_string(*count) : "2^63 or more")
          .advice("give smaller inputs");
    bytes += 2 * static_cast<uint64_t>(bytes_of(port.dtype, *count));
  }
  return bytes;
}

Result<PlannedBytes> bytes_of_program(const ProgramTable& table, const Program& p, const GivenSizes& given, bool is_loop);

Result<PlannedBytes> bytes_of_bodies(const ProgramTable& table, const Program& p, const Step& step, const std::vector<int64_t>& sizes) {
  const bool is_loop = is<LoopStep>(step);
  std::vector<int64_t> outer;
  for (Slot s : step.sizes) outer.push_back(sizes[s]);
  PlannedBytes bytes;
  size_t first = is_loop ? 2 : 1;
  const size_t formal_inputs = is_loop ? 2 : 0;
  for (const uint64_t number : bodies_of(step)) {
    const Program& body = table[number];
    if (const auto shapes = body_shapes(p, step, body, first, formal_inputs, sizes))
      bytes += TRY(bytes_of_program(table, body, {*shapes, outer}, is_loop));
    first += body.inputs.size() - formal_inputs;
  }
  return bytes;
}

/// Bytes of values whose sizes follow from steps that pack rows, as if every row were kept. Ends at the first other step that binds sizes.
Result<uint64_t> bytes_after_packing(const Program& p, const GivenSizes& given, std::vector<int64_t>& sizes) {
  uint64_t bytes = 0;
  uint32_t lines = p.input_lines;
  for (size_t k = 0; k < p.steps.size() && lines < p.sizes.size(); ++k) {
    const Step& step = p.steps[k];
    const bool packs = is<RowsStep>(step) && std::ranges::all_of(step.sizes, [&](Slot s) { return s < lines; });
    if (!packs && !step.bindings.empty()) break;
    for (const Step::Binding& b : step.bindings) {
      sizes[b.slot] = TRY(row_count(step, sizes));
      bytes += static_cast<uint64_t>(sizes[b.slot]) * sizeof(int64_t);
    }
    const uint32_t next = k + 1 < p.steps.size() ? p.steps[k + 1].lines : static_cast<uint32_t>(p.sizes.size());
    if (next <= lines) continue;
    TRY(evaluate_sizes(p, lines, next, given, sizes));
    bytes += TRY(lay_out_late(p, lines, next, sizes)).bytes;
    lines = next;
  }
  return bytes;
}

Result<PlannedBytes> bytes_of_program(const ProgramTable& table, const Program& p, const GivenSizes& given, bool is_loop) {
  std::vector<int64_t> sizes;
  if (std::ranges::count(p.sizes, SizeLine::Kind::state_size, &SizeLine::kind) > 0)
    return fail(Code::not_supported, "planned bytes", "not supported yet: sizes that a context's states alone have")
        .expected("sizes that follow from the inputs");
  TRY(evaluate_sizes(p, 0, p.input_lines, given, sizes));
  const bool grows = std::ranges::any_of(p.states, [](const StatePort& port) { return port.length.has_value(); });
  if (!grows) TRY(check_guards(p, 0, p.input_lines, sizes));  // with growing states, guards depend on their lengths
  PlannedBytes bytes{TRY(lay_out(p, sizes)).bytes, scratch_stride(p)};
  if (is_loop) bytes.values += TRY(result_bytes(p, sizes));
  bytes.values += TRY(bytes_after_packing(p, given, sizes));
  for (const Step& step : p.steps) {
    const bool known = std::ranges::all_of(step.sizes, [&](Slot s) { return s < p.input_lines; });
    if (!std::ranges::empty(bodies_of(step)) && known) bytes += TRY(bytes_of_bodies(table, p, step, sizes));
  }
  return bytes;
}

}  // namespace

std::vector<int64_t> capacities_of(const ProgramTable& table, const Program& program) {
  std::vector<int64_t> out;
  for (const StatePort& port : program.states) {
    const StateInfo& state = table.states[port.state];
    out.push_back(state.growing_axis ? state.shape[*state.growing_axis] : 0);
  }
  return out;
}

uint64_t scratch_stride(const Program& program) {
  constexpr uint64_t kPage = 4096;
  uint64_t most = 0;
  for (const Step& step : program.steps)
    if (const auto* kernel = as<KernelStep>(step))
      most = std::max(most, static_cast<uint64_t>(round_up(static_cast<int64_t>(kernel->scratch_bytes + kSlack), kPage)));
  return most;
}

Result<PlannedBytes> planned_bytes(const ProgramTable& table, std::span<const Sizes> input_shapes, uint32_t number) {
  const Program& program = table[program_for(table, input_shapes, number)];
  const std::vector<int64_t> lengths = capacities_of(table, program);
  return bytes_of_program(table, program, {input_shapes, {}, lengths}, false);
}

}  // namespace tenon::runtime
