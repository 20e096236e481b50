// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_table.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

/// Row numbers bring their own memory; places have the shape of the mask of kept rows.
bool RowsStep::is_sound(const Step& step, const Program& program, const ProgramTable&) const {
  if (step.buffers.size() != 1 || step.results.size() != 3 || step.sizes.size() != 2) return false;
  const auto buffer = [&](uint32_t b) -> const BufferInfo& { return program.buffers[b]; };
  const BufferInfo &wanted = buffer(step.buffers[0]), &rows = buffer(step.results[0]), &places = buffer(step.results[1]),
                   &starts = buffer(step.results[2]);
  const auto placed = [](const BufferInfo& b, size_t rank) {
    return b.dtype == DType::i64 && b.shape.size() == rank && (b.kind == BufferInfo::Kind::arena || b.kind == BufferInfo::Kind::output);
  };
  return wanted.dtype == DType::boolean && wanted.shape == step.sizes && rows.dtype == DType::i64 && rows.shape.size() == 1 &&
         rows.kind == BufferInfo::Kind::dynamic && placed(places, 2) && places.shape == step.sizes && placed(starts, 1);
}

namespace {

class RowPacker final : public StepRunner {
 public:
  explicit RowPacker(const Step& step) : step_(step) {}

  Result<void> run(Values& values, const RunOptions&, int) override {
    const int64_t sequences = values.size(step_.sizes[0]), length = values.size(step_.sizes[1]);
    if (values.size(values.program().buffers[step_.results[2]].shape[0]) != sequences + 1)
      return fail(Code::internal, step_.label, "starts of sequences have no room");
    values.release(step_.results[0]);
    TRY(make_room(sequences * length));
    const int64_t count = number_rows(values, sequences, length);
    const Tensor found[] = {Tensor::view(DType::i64, {count}, room_->data(), room_), Tensor(), Tensor()};
    return values.take_results(step_, found);
  }

 private:
  /// For row numbers; it only grows. A caller may still hold those of the last run.
  Result<void> make_room(int64_t rows) {
    if (!room_ || room_.use_count() > 1 || room_->count() < rows) room_ = std::make_shared<Tensor>(TRY(Tensor::make(DType::i64, {rows})));
    return {};
  }

  /// Returns how many rows are kept.
  int64_t number_rows(Values& values, int64_t sequences, int64_t length) {
    const auto* const wanted = static_cast<const uint8_t*>(values.pointer(step_.buffers[0]));
    auto* const places = static_cast<int64_t*>(values.pointer(step_.results[1]));
    auto* const starts = static_cast<int64_t*>(values.pointer(step_.results[2]));
    auto* const rows = room_->as_mutable<int64_t>().data();
    int64_t count = 0;
    for (int64_t s = 0; s < sequences; ++s) {
      starts[s] = count;
      for (int64_t at = s * length; at < (s + 1) * length; ++at) {
        const bool is_wanted = wanted[at] != 0;
        places[at] = is_wanted ? count : 0;
        rows[count] = at;  // the next one overwrites it where this is not kept
        count += is_wanted;
      }
    }
    starts[sequences] = count;
    return count;
  }

  const Step& step_;
  std::shared_ptr<Tensor> room_;
};

}  // namespace

std::unique_ptr<StepRunner> RowsStep::runner(const Step& step, const Values&) const { return std::make_unique<RowPacker>(step); }

}  // namespace tenon::runtime
