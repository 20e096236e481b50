// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_table.h"

namespace tenon::runtime {

namespace {

namespace kernel_field {
enum : uint32_t { tasks = 6, grain = 7, scratch = 8, flops = 12, factors = 14, units = 15, parts = 16, joined = 17 };
}

}  // namespace

void KernelStep::write(protozero::pbf_writer& to) const {
  to.add_uint32(step_field::code, kernel);
  to.add_uint32(kernel_field::tasks, tasks);
  to.add_uint32(kernel_field::grain, grain);
  to.add_uint64(kernel_field::scratch, scratch_bytes);
  to.add_uint32(kernel_field::flops, flops);
  if (units) to.add_uint32(kernel_field::units, *units);
  if (parts) to.add_uint32(kernel_field::parts, *parts);
  if (joined) to.add_uint32(kernel_field::joined, 1);
  if (factors != DType::f32) to.add_uint32(kernel_field::factors, static_cast<uint32_t>(factors));
}

bool KernelStep::read(WireReader& from) {
  switch (from.tag()) {
    case step_field::code: kernel = from.get_uint32(); return true;
    case kernel_field::tasks: tasks = from.get_uint32(); return true;
    case kernel_field::grain: grain = from.get_uint32(); return true;
    case kernel_field::scratch: scratch_bytes = from.get_uint64(); return true;
    case kernel_field::flops: flops = from.get_uint32(); return true;
    case kernel_field::units: units = from.get_uint32(); return true;
    case kernel_field::parts: parts = from.get_uint32(); return true;
    case kernel_field::joined: joined = from.get_uint32() != 0; return true;
    case kernel_field::factors: factors = from.get_enum<DType>(); return true;
    default: return false;
  }
}

/// That its code is there is checked with the code (Engine::create).
bool KernelStep::is_sound(const Step& step, const Program& program, const ProgramTable&) const {
  const auto is_slot = [&](Slot s) { return s < program.sizes.size(); };
  if (!is_slot(tasks) || !is_slot(grain) || !is_slot(flops) || scratch_bytes > (uint64_t{1} << 32)) return false;
  if (factors != DType::f32 && factors != DType::bf16 && factors != DType::i8) return false;
  if (units.has_value() != parts.has_value() || (units && (!is_slot(*units) || !is_slot(*parts)))) return false;
  if (!joined) return true;
  const Step* const before = &step == program.steps.data() ? nullptr : &step - 1;
  const auto* const other = before ? as<KernelStep>(*before) : nullptr;
  return units && other && other->parts == parts && before->lines == step.lines;
}

std::unique_ptr<StepRunner> KernelStep::runner(const Step&, const Values&) const { return nullptr; }

}  // namespace tenon::runtime
