// SPDX-License-Identifier: Apache-2.0
#include "runtime/code_section.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::runtime {
namespace {

Error damaged(std::string_view place, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, std::string(place), std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("build the engine again");
}

}  // namespace

Result<void> check_code(const ProgramTable& programs, const CodeSection& code, std::string_view place) {
  for (const uint64_t offset : code.kernel_offsets)
    if (offset >= code.bytes.size())
      return damaged(place, "a kernel starts outside of the code", std::to_string(code.bytes.size()) + " bytes of code",
                     "an entry at byte " + std::to_string(offset));
  for (const NamedProgram& p : programs.programs)
    for (const Step& s : p.program.steps)
      if (const auto* k = as<KernelStep>(s); k && k->kernel >= code.kernel_offsets.size())
        return damaged(place, "a step names a kernel that the code does not have", std::to_string(code.kernel_offsets.size()) + " kernels",
                       "kernel " + std::to_string(k->kernel));
  return {};
}

CodeMapping& CodeMapping::operator=(CodeMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  return *this;
}

CodeMapping::~CodeMapping() {
  if (base_) munmap(base_, size_);
}

Result<CodeMapping> CodeMapping::map(std::span<const std::byte> code) {
  CodeMapping m;
  if (code.empty()) return m;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  m.size_ = (code.size() + page - 1) / page * page;
  void* memory = mmap(nullptr, m.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    m.size_ = 0;
    return fail(Code::out_of_memory, "engine", "no memory for the engine's code")
        .expected(std::to_string(code.size()) + " bytes")
        .found(std::strerror(errno));
  }
  m.base_ = static_cast<std::byte*>(memory);
  std::memcpy(m.base_, code.data(), code.size());
  if (mprotect(m.base_, m.size_, PROT_READ | PROT_EXEC) != 0)
    return fail(Code::device_failed, "engine", "this system does not let memory be made executable")
        .expected("mprotect with PROT_EXEC")
        .found(std::strerror(errno))
        .advice("build the engine with --portable and run it where code may be mapped");
  return m;
}

}  // namespace tenon::runtime
