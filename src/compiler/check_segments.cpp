// SPDX-License-Identifier: Apache-2.0
#include "compiler/check_segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {

namespace {

using runtime::BufferInfo;
using runtime::Program;
using runtime::Step;

class SegmentChecker {
 public:
  SegmentChecker(const program::LinkedPrograms& built, const runtime::Devices& devices) : devices_(devices) {
    for (const program::PlacedConstant& w : built.weights) constants_.try_emplace(w.offset, w.constant);
  }

  Result<void> check(const Program& program) const {
    std::unordered_set<uint32_t> made;
    for (const Step& step : program.steps)
      if (const auto* segment = runtime::as<runtime::SegmentStep>(step); segment && made.insert(segment->blob).second)
        TRY(check_step(program, step, program.blobs[segment->blob]));
    return {};
  }

 private:
  Result<void> check_step(const Program& program, const Step& step, const runtime::Blob& blob) const {
    const auto device = std::ranges::find(devices_, blob.device, [](const auto& d) { return d->name(); });
    if (device == devices_.end() || !(*device)->is_fast_to_make()) return {};
    std::vector<Tensor> weights;
    for (size_t k = runtime::operand_count(program, step); k < step.buffers.size(); ++k)
      weights.push_back(TRY(weight(program, program.buffers[step.buffers[k]])));
    const auto segment = (*device)->make({.bytes = blob.bytes, .weights = weights});
    if (segment) return {};
    const Diagnostic& d = *segment.error();
    return fail(d.code, step.label, fmt::format("backend '{}' cannot read what was compiled for it: {}: {}", blob.device, d.place, d.what))
        .expected(d.expected)
        .found(d.found);
  }

  Result<Tensor> weight(const Program& program, const BufferInfo& buffer) const {
    const Tensor bytes = TRY(ir::materialise(*constants_.at(buffer.offset)));
    Sizes shape;
    for (const runtime::Slot s : buffer.shape) shape.push_back(program.sizes[s].constant);
    return Tensor::view(buffer.dtype, std::move(shape), bytes.data(), std::make_shared<Tensor>(bytes));
  }

  const runtime::Devices& devices_;
  std::unordered_map<uint64_t, ir::ConstantRef> constants_;  ///< by their offset
};

}  // namespace

Result<void> check_segments(const program::LinkedPrograms& built, const runtime::Devices& devices) {
  const SegmentChecker checker(built, devices);
  for (const runtime::NamedProgram& p : built.programs.programs) TRY(checker.check(p.program));
  return {};
}

}  // namespace tenon::compiler
