// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_table.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

bool SizesStep::is_sound(const Step& step, const Program&, const ProgramTable&) const { return step.buffers.size() == 1; }

namespace {

class SizesWriter final : public StepRunner {
 public:
  explicit SizesWriter(const Step& step) : step_(step) {}

  Result<void> run(Values& values, const RunOptions&, int) override {
    const uint32_t b = step_.buffers[0];
    Tensor to = Tensor::view(values.program().buffers[b].dtype, {static_cast<int64_t>(step_.sizes.size())}, values.pointer(b), nullptr);
    for (size_t k = 0; k < step_.sizes.size(); ++k) to.set_integer(static_cast<int64_t>(k), values.size(step_.sizes[k]));
    return {};
  }

 private:
  const Step& step_;
};

}  // namespace

std::unique_ptr<StepRunner> SizesStep::runner(const Step& step, const Values&) const { return std::make_unique<SizesWriter>(step); }

}  // namespace tenon::runtime
