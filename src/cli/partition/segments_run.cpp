// SPDX-License-Identifier: Apache-2.0
#include "cli/partition/segments_run.h"

#include <chrono>
#include <utility>

namespace tenon::cli {

void SegmentRuns::watch(runtime::RunOptions& options) {
  options.on_copy = [this](uint64_t bytes) {
    ++copies_;
    copied_bytes_ += bytes;
  };
  options.on_step = [this](uint32_t step, auto begin, auto end) {
    add(program_.steps[step], std::chrono::duration<double, std::micro>(end - begin).count());
  };
}

void SegmentRuns::add(const runtime::Step& step, double us) {
  const auto* const segment = runtime::as<runtime::SegmentStep>(step);  // two of one device may follow each other
  const std::string backend = segment ? program_.blobs[segment->blob].device : "cpu";
  if (segment || runs_.empty() || runs_.back().backend != backend) {
    runs_.emplace_back();
    runs_.back().backend = backend;
  }
  SegmentRun& run = runs_.back();
  if (!step.label.empty()) run.what += (run.what.empty() ? "" : "; ") + step.label;
  ++run.steps;
  run.us += us;
  run.copies += std::exchange(copies_, 0);
  run.copied_bytes += std::exchange(copied_bytes_, 0);
}

}  // namespace tenon::cli
