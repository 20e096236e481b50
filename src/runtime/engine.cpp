// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include "base/activity.h"
#include "runtime/device_error.h"
#include "runtime/input_checks.h"

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
  for (const auto* others : {&program.behind, &program.inner, &program.instead, &program.overridable})
    for (const Program& other : *others) TRY(check_kernels(parts, other));
  return {};
}

Error missing_device(const std::string& name, const Devices& from) {
  std::string known;
  for (const auto& device : from) known.append(known.empty() ? "" : ", ").append(device->name());
  return fail(Code::not_supported, "engine", "this engine has segments for the device '" + name + "', which is not linked in")
      .expected("the device '" + name + "'")
      .found(known.empty() ? "no device" : known)
      .advice("link tenon::tenon instead of tenon::run; `tenon inspect` names the ops that run there");
}

/// Adds the devices that the program's segments run on, each once. Errors: not_supported for one that is not there.
Result<void> choose_devices(const Program& program, const Devices& from, Devices& chosen) {
  const auto named = [](const Devices& list, std::string_view name) {
    return std::ranges::find_if(list, [&](const auto& device) { return device->name() == name; });
  };
  for (const Blob& blob : program.blobs) {
    if (named(chosen, blob.device) != chosen.end()) continue;
    const auto found = named(from, blob.device);
    if (found == from.end()) return missing_device(blob.device, from);
    const Activity doing((*found)->name(), "opened its library");
    if (auto opened = (*found)->open(); !opened) return of_backend(std::move(opened).error(), blob.device);
    chosen.push_back(*found);
  }
  for (const Program& body : program.bodies) TRY(choose_devices(body, from, chosen));
  for (const auto* others : {&program.behind, &program.inner, &program.overridable})
    for (const Program& other : *others) TRY(choose_devices(other, from, chosen));
  return {};
}

void find_blobs(const Program& program, std::string_view device, std::vector<std::string_view>& out) {
  for (const Blob& blob : program.blobs)
    if (blob.device == device) out.emplace_back(blob.bytes);
  for (const Program& body : program.bodies) find_blobs(body, device, out);
  for (const auto* others : {&program.behind, &program.inner, &program.overridable})
    for (const Program& other : *others) find_blobs(other, device, out);
}

/// Devices that keep something for the engine as a whole.
Result<void> settle(const Program& program, Devices& devices) {
  for (auto& device : devices) {
    std::vector<std::string_view> blobs;
    find_blobs(program, device->name(), blobs);
    if (auto own = TRY(device->for_engine(blobs))) device = std::move(own);
  }
  return {};
}

/// The devices of a program, opened and settled.
Result<Devices> devices_of(const Program& program, const Devices& from) {
  Devices out;
  TRY(choose_devices(program, from, out));
  TRY(settle(program, out));
  return out;
}

/// The program that stands instead of this one.
Program instead_of(Program program) {
  Program out = std::move(program.instead[0]);
  out.weight_bytes = program.weight_bytes;
  return out;
}

}  // namespace

std::string missing_text(const Error& error) { return error->what + ": " + error->found; }

Result<std::shared_ptr<Engine>> Engine::create(EngineParts parts, const Devices& devices) {
  TRY(check_kernels(parts, parts.program));
  if (parts.program.weight_bytes > parts.weights.size())
    return fail(Code::bad_file, "weights", "the weights are shorter than the program says")
        .expected(std::to_string(parts.program.weight_bytes) + " bytes")
        .found(std::to_string(parts.weights.size()) + " bytes");
  auto engine = std::shared_ptr<Engine>(new Engine(std::move(parts)));
  engine->code_ = TRY(CodeMapping::map(engine->parts_.code));
  engine->parts_.code.clear();
  engine->parts_.code.shrink_to_fit();
  TRY(engine->find_devices(devices));
  return engine;
}

Result<void> Engine::find_devices(const Devices& from) {
  auto found = devices_of(parts_.program, from);
  if (!found && found.error().code() == Code::not_supported && !parts_.program.instead.empty()) {
    parts_.missing = missing_text(found.error());
    parts_.program = instead_of(std::move(parts_.program));
    found = devices_of(parts_.program, from);
  }
  devices_ = TRY(std::move(found));
  return {};
}

std::span<const PortInfo> Engine::inputs() const { return inputs_of(program()); }

bool Engine::overrides_default(std::span<const Tensor> inputs) const {
  const size_t required = required_inputs();
  return !program().overridable.empty() && inputs.size() > required &&
         std::ranges::any_of(inputs.subspan(required), [](const Tensor& t) { return !t.empty_handle(); });
}

std::vector<Tensor> Engine::defaults() const {
  std::vector<Tensor> out;
  for (const PortInfo& port : inputs().subspan(required_inputs()))
    out.push_back(Tensor::view(port.dtype, port.otherwise->shape, weights() + port.otherwise->offset, nullptr));
  return out;
}

const Program& Engine::program_for(std::span<const Tensor> inputs) const {
  if (overrides_default(inputs)) return program().overridable[0];
  if (program().behind.empty()) return program();
  std::vector<Sizes> shapes;
  for (const Tensor& t : inputs.first(std::min(inputs.size(), required_inputs()))) shapes.push_back(t.shape());
  return runtime::program_for(program(), shapes);
}

Result<std::unique_ptr<Segment>> Engine::make_segment(const Blob& blob, std::span<const Tensor> weights, int threads) const {
  for (const auto& device : devices_)
    if (device->name() == blob.device) {
      const Activity doing(blob.device, "made a segment ready to run");
      return device->make({blob.bytes, weights, threads, this, blob.graphs});
    }
  return fail(Code::internal, "device '" + blob.device + "'", "the engine was made without it");
}

}  // namespace tenon::runtime
