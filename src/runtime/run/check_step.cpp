// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "runtime/program_table.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

void CheckStep::write(protozero::pbf_writer& to) const {
  if (from_end) to.add_uint32(step_field::code, 1);
}

bool CheckStep::read(WireReader& from) {
  if (from.tag() != step_field::code) return false;
  from_end = from.get_uint32() == 1;
  return true;
}

bool CheckStep::is_sound(const Step& step, const Program& program, const ProgramTable&) const {
  return step.buffers.size() == 2 && step.sizes.size() == 1 && std::ranges::all_of(step.buffers, [&](uint32_t b) {
           const BufferInfo& index = program.buffers[b];
           return index.dtype == DType::i64 && index.shape.empty() && index.kind == BufferInfo::Kind::arena;
         });
}

namespace {

/// Kernels clamp an index to its table; one that was outside is an error, not a wrong row.
class IndexCheck final : public StepRunner {
 public:
  IndexCheck(const Step& step, bool from_end) : step_(step), from_end_(from_end) {}

  Result<void> run(Values& values, const RunOptions&, int) override {
    const int64_t smallest = *static_cast<const int64_t*>(values.pointer(step_.buffers[0]));
    const int64_t largest = *static_cast<const int64_t*>(values.pointer(step_.buffers[1]));
    const int64_t extent = values.size(step_.sizes[0]), lowest = from_end_ ? -extent : 0;
    if (smallest > largest || (smallest >= lowest && largest < extent)) return {};  // the first: there is no index at all
    return fail(Code::index_out_of_range, step_.label, "an index that the model computes is outside the table that it points into")
        .expected(fmt::format("{} .. {}", lowest, extent - 1))
        .found(std::to_string(largest >= extent ? largest : smallest))
        .advice("a sequence longer than the model's table of positions does this; give shorter inputs");
  }

 private:
  const Step& step_;
  bool from_end_;
};

}  // namespace

std::unique_ptr<StepRunner> CheckStep::runner(const Step& step, const Values&) const {
  return std::make_unique<IndexCheck>(step, from_end);
}

}  // namespace tenon::runtime
