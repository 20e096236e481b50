// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/architecture.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

namespace tenon::codegen::machine {

#define TENON_ENTRY(x) extern const Architecture arch_##x;
#include "tenon/architectures_list.inc"
#undef TENON_ENTRY

std::span<const Architecture* const> all_architectures() {
#define TENON_ENTRY(x) &arch_##x,
  static constexpr const Architecture* kAll[] = {
#include "tenon/architectures_list.inc"
  };
#undef TENON_ENTRY
  return kAll;
}

Result<const Architecture*> architecture_of(const Target& target) {
  std::string known;
  for (const Architecture* a : all_architectures()) {
    if (target.triple.substr(0, target.triple.find('-')) == a->name) return a;
    known.append(known.empty() ? "" : ", ").append(a->name);
  }
  return fail(Code::not_supported, "target '" + std::string(target.name) + "'", "not supported yet: machine code for this architecture")
      .expected(known)
      .found(std::string(target.triple));
}

const Instructions& instructions_of(const Target& target) {
  static constexpr Instructions kNone;
  const auto architecture = architecture_of(target);
  return architecture ? (*architecture)->instructions : kNone;
}

Result<std::unique_ptr<llvm::TargetMachine>> target_machine(const Target& target) {
  const Architecture& architecture = *TRY(architecture_of(target));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::string error;
  const llvm::Triple triple(llvm::StringRef(target.triple));
  const llvm::Target* const registered = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!registered) return fail(Code::internal, "emit", "LLVM lacks the target's architecture").found(error);
  return std::unique_ptr<llvm::TargetMachine>(registered->createTargetMachine(
      triple, architecture.cpu, target.features(), options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace tenon::codegen::machine
