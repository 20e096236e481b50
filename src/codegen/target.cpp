// SPDX-License-Identifier: Apache-2.0
#include "codegen/target.h"

#include <algorithm>

namespace tenon::codegen {

#define TENON_ENTRY(x) extern const Target target_##x;
#include "tenon/targets_list.inc"
#undef TENON_ENTRY

const MultiplyAdd* Target::multiply_add(DType rows, DType along, DType sum) const {
  for (const MultiplyAdd& m : multiply_adds)
    if (m.operand == rows && (m.along == DType::none ? m.operand : m.along) == along && m.sum == sum) return &m;
  return nullptr;
}

std::string Target::needs() const { return extends ? extends->needs().append(" ").append(own_needs) : std::string(own_needs); }

std::string Target::features() const { return extends ? extends->features().append(",").append(own_features) : std::string(own_features); }

std::span<const Target* const> all_targets() {
#define TENON_ENTRY(x) &target_##x,
  static constexpr const Target* kTargets[] = {
#include "tenon/targets_list.inc"
  };
#undef TENON_ENTRY
  return kTargets;
}

Result<const Target*> target_named(std::string_view name) {
  std::string known;
  for (const Target* t : all_targets()) {
    if (t->name == name) return t;
    known.append(known.empty() ? "" : ", ").append(t->name);
  }
  return fail(Code::bad_usage, std::string(name), "there is no such target")
      .expected(known)
      .advice("`tenon build` without --target takes this CPU's best");
}

Result<const Target*> target_for(const CpuFeatures& cpu) {
  const auto count = [](const Target& t) { return feature_count(t.needs()); };
  const Target* best = nullptr;
  const Target* least = nullptr;
  for (const Target* t : all_targets()) {
    if (!least || count(*t) < count(*least)) least = t;
    if (cpu.has_all(t->needs()) && (!best || count(*t) > count(*best))) best = t;
  }
  if (best) return best;
  return fail(Code::wrong_target, "this machine", "the CPU cannot run generated code")
      .expected(least->needs())
      .found(cpu.text())
      .advice("compile and run on a newer CPU (Intel since 2013, AMD since 2015); a virtual machine may hide what its CPU has");
}

}  // namespace tenon::codegen
