// SPDX-License-Identifier: Apache-2.0
#include "runtime/undefined_sizes.h"

#include <algorithm>

#include "runtime/input_checks.h"

namespace tenon::runtime {

namespace {

/// By line: the one whose division by zero it comes from.
class Undefined {
 public:
  Undefined(const Program& program, uint32_t to, const std::vector<int64_t>& values)
      : program_(program), values_(values), from_(to, kNone) {
    for (Slot k = 0; k < to; ++k) from_[k] = origin_of(program.sizes[k], k);
  }

  /// Nothing, or why no size in the list is used by `place`.
  Result<void> check(const std::vector<Slot>& used, const std::string& place) const {
    for (Slot s : used) {
      if (s >= from_.size() || from_[s] == kNone) continue;
      const SizeLine& division = program_.sizes[from_[s]];
      return fail(Code::shape_mismatch, place, "a size is divided by zero")
          .expected("sizes that leave a divisor other than 0")
          .found(std::to_string(values_[division.a]) + " / 0")
          .advice("give inputs that are not empty");
    }
    return {};
  }

 private:
  static constexpr Slot kNone = ~Slot{0};

  Slot origin_of(const SizeLine& line, Slot k) const {
    using Kind = SizeLine::Kind;
    switch (line.kind) {
      case Kind::constant:
      case Kind::input_dimension:
      case Kind::bound:
      case Kind::outer:
      case Kind::state_length:
      case Kind::state_size: return kNone;
      case Kind::select: return first({line.a, values_[line.a] != 0 ? line.b : line.c});
      case Kind::floor_divide:
        if (const Slot origin = first({line.a, line.b}); origin != kNone) return origin;
        return values_[line.b] == 0 ? k : kNone;
      default: return first({line.a, line.b});
    }
  }
  Slot first(std::initializer_list<Slot> operands) const {
    for (Slot s : operands)
      if (from_[s] != kNone) return from_[s];
    return kNone;
  }

  const Program& program_;
  const std::vector<int64_t>& values_;
  std::vector<Slot> from_;
};

Result<void> check_uses(const Program& program, const Undefined& undefined) {
  for (const PortInfo& port : program.inputs) {
    TRY(undefined.check(port.shape, port_place("input", port)));
    for (const ElementLimit& limit : port.limits) TRY(undefined.check({limit.extent}, port_place("input", port)));
  }
  for (const PortInfo& port : program.outputs) TRY(undefined.check(port.shape, port_place("output", port)));
  for (const BufferInfo& buffer : program.buffers) TRY(undefined.check(buffer.shape, "value '" + buffer.name + "'"));
  for (const Step& step : program.steps) {
    TRY(undefined.check(step.sizes, step.label));
    if (const auto* kernel = as<KernelStep>(step)) TRY(undefined.check({kernel->tasks, kernel->grain}, step.label));
  }
  return {};
}

}  // namespace

Result<void> check_divisions(const Program& program, uint32_t to, const std::vector<int64_t>& values) {
  const bool any = std::any_of(program.sizes.begin(), program.sizes.begin() + to,
                               [&](const SizeLine& line) { return line.kind == SizeLine::Kind::floor_divide && values[line.b] == 0; });
  return any ? check_uses(program, Undefined(program, to, values)) : Result<void>();
}

}  // namespace tenon::runtime
