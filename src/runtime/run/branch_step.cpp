// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "runtime/run/control.h"
#include "runtime/run/frame.h"

namespace tenon::runtime {

void BranchStep::write(protozero::pbf_writer& to) const { to.add_uint32(step_field::code, first_body); }

bool BranchStep::read(WireReader& from) {
  if (from.tag() != step_field::code) return false;
  first_body = from.get_uint32();
  return true;
}

bool BranchStep::is_sound(const Step& step, const Program& program, const ProgramTable& table) const {
  if (!is_body(table, first_body) || !is_body(table, uint64_t{first_body} + 1)) return false;
  const Program &yes = table[first_body], &no = table[first_body + 1];
  return has_outer_sizes(yes, step) && has_outer_sizes(no, step) && step.buffers.size() == 1 + yes.inputs.size() + no.inputs.size() &&
         step.buffers[0] != kMissing && step.results.size() <= yes.outputs.size() && step.results.size() <= no.outputs.size() &&
         fits_results(step, program, yes, 0) && fits_results(step, program, no, 0);
}

namespace {

class BranchRunner final : public ControlRunner {
 public:
  using ControlRunner::ControlRunner;

 private:
  Result<void> run_bodies(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                          const RunOptions& options) override {
    const size_t chosen = TRY(scalar_of(operands[0], "condition")) != 0 ? 0 : 1;
    const Program& program = program_of(chosen);
    const size_t first = 1 + (chosen == 0 ? 0 : program_of(0).inputs.size());
    Frame& body = *bodies_[chosen];
    for (size_t k = 0; k < places.size(); ++k) {
      const auto count = checked_count(places[k].shape);
      if (places[k].memory && count) body.bind(k, places[k].memory, static_cast<size_t>(bytes_of(program.outputs[k].dtype, *count)));
    }
    std::optional<SizeBounds> bounds;
    if (!largest_operands().empty()) bounds = {largest_operands().subspan(first, program.inputs.size()), largest_outer()};
    const auto results = TRY(body.run(operands.subspan(first, program.inputs.size()), outer, options, bounds));
    for (size_t k = 0; k < places.size(); ++k) TRY(store_result(k, results[k], places[k]));
    return {};
  }
};

}  // namespace

std::unique_ptr<StepRunner> BranchStep::runner(const Step& step, const Values& values) const {
  return std::make_unique<BranchRunner>(step, values.engine());
}

}  // namespace tenon::runtime
