// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon::runtime {

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

namespace {

Result<void> check_kernels(const EngineParts& parts, const Program& program) {
  for (const Step& s : program.steps)
    if (s.kind == Step::Kind::kernel && (s.code >= parts.entries.size() || parts.entries[s.code] >= parts.code.size()))
      return fail(Code::bad_file, "program", "a step names a kernel that the code section does not have")
          .expected(std::to_string(parts.entries.size()) + " kernels")
          .found("kernel " + std::to_string(s.code))
          .advice("build the engine again");
  for (const Program& body : program.bodies) TRY(check_kernels(parts, body));
  return {};
}

bool has_opaque(const Program& program) { return !program.opaque.empty() || std::ranges::any_of(program.bodies, has_opaque); }

}  // namespace

Result<std::shared_ptr<Engine>> Engine::create(EngineParts parts, std::shared_ptr<const OpaqueDevice> opaque) {
  TRY(check_kernels(parts, parts.program));
  if (parts.program.weight_bytes > parts.weights.size())
    return fail(Code::bad_file, "weights", "the weights are shorter than the program says")
        .expected(std::to_string(parts.program.weight_bytes) + " bytes")
        .found(std::to_string(parts.weights.size()) + " bytes");
  if (has_opaque(parts.program) && opaque == nullptr)
    return fail(Code::not_supported, "engine", "this engine has ops that run by reference, and the reference device is not linked in")
        .expected("the reference device")
        .found("none")
        .advice("link tenon::tenon instead of tenon::run (or, inside this project, tenon_reference_device); `tenon inspect` names the ops");
  auto engine = std::shared_ptr<Engine>(new Engine(std::move(parts)));
  engine->code_ = TRY(CodeMapping::map(engine->parts_.code));
  engine->parts_.code.clear();
  engine->parts_.code.shrink_to_fit();
  engine->opaque_ = std::move(opaque);
  return engine;
}

}  // namespace tenon::runtime
