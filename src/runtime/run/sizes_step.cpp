// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_check.h"
#include "runtime/program_table.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

bool SizesStep::is_sound(const Step& step, const Program& program, const ProgramTable&) const {
  if (step.buffers.size() != 1) return false;
  const BufferInfo& to = program.buffers[step.buffers[0]];
  return is_writable(to) && to.kind != BufferInfo::Kind::dynamic && bits_of(to.dtype) > 0;
}

namespace {

class SizesWriter final : public StepRunner {
 public:
  explicit SizesWriter(const Step& step) : step_(step) {}

  Result<void> run(Values& values, const RunOptions&, int) override {
    Tensor to = values.tensor_of(step_.buffers[0]);
    if (to.count() < static_cast<int64_t>(step_.sizes.size())) return fail(Code::internal, step_.label, "sizes have no room");
    for (size_t k = 0; k < step_.sizes.size(); ++k) to.set_integer(static_cast<int64_t>(k), values.size(step_.sizes[k]));
    return {};
  }

 private:
  const Step& step_;
};

}  // namespace

std::unique_ptr<StepRunner> SizesStep::runner(const Step& step, const Values&) const { return std::make_unique<SizesWriter>(step); }

}  // namespace tenon::runtime
