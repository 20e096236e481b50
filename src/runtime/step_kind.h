// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "base/result.h"
#include "base/wire_reader.h"

namespace tenon::runtime {

struct Program;
struct ProgramTable;
struct RunOptions;
struct Step;
class Values;

/// Number of an entry of the size table.
using Slot = uint32_t;
/// In lists of buffers: no buffer (an optional operand or an unused result).
inline constexpr uint32_t kMissing = 0xffffffff;

/// Runs one step of a program in one context. Made once a context; may keep data between runs.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual Result<void> run(Values& values, const RunOptions& options, int threads) = 0;
  /// How many times its bodies laid out memory.
  virtual uint64_t plans_made() const { return 0; }
};

// A kind of step is a record with:
//   kNumber, which is stored in engine files and never changes; kName, for output;
//   kTakesContainers, where operands may be sequences or optionals; kAllowsMissingBuffers, where buffers and results may be kMissing;
//   void write(pbf_writer& to) const and bool read(WireReader& from), where it has fields of its own: read() is called at each field that
//   is not common to all steps, and returns false where it is none of the kind's; bool is_sound(const Step&, const Program&, const
//   ProgramTable&) const: all indices that are its own are in range; those in buffers, results, sizes and bindings are checked before;
//   std::unique_ptr<StepRunner> runner(const Step&, const Values&) const.

/// Field numbers of an encoded step, which never change. A kind's own fields are in its file.
namespace step_field {
enum : uint32_t { kind = 1, code = 2, buffers = 3, results = 4, sizes = 5, lines = 9, binding = 10, label = 11 };
}

}  // namespace tenon::runtime
