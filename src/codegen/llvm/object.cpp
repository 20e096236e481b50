// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/object.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/checked.h"
#include "codegen/llvm/architecture.h"

namespace tenon::codegen::machine {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::ELFSectionRef;
using llvm::object::ObjectFile;
using llvm::object::RelocationRef;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

/// Copies sections of objects into one block and resolves relocations.
class Linker {
 public:
  Result<void> add(std::string_view bytes) {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "kernels");
    auto object = ObjectFile::createELFObjectFile(buffer);
    if (!object) return bad("no object file", text_of(object.takeError()));
    const uint32_t machine = llvm::cast<ELFObjectFileBase>(**object).getEMachine();
    const auto found = std::ranges::find(all_architectures(), machine, &Architecture::elf_machine);
    if (found == all_architectures().end()) return bad("an object of another architecture", std::to_string(machine));
    architecture_ = *found;
    objects_.push_back({std::move(*object), {}});
    Placed& placed = objects_.back();
    TRY(lay_out(placed, true));
    TRY(lay_out(placed, false));
    flat_.bytes.resize(round_up(static_cast<int64_t>(flat_.bytes.size()), 64), std::byte{0xcc});
    for (const SymbolRef& s : placed.object->symbols()) TRY(define(placed, s));
    return {};
  }

  Result<FlatCode> finish(std::span<const std::string> symbols) {
    for (const Placed& placed : objects_)
      for (const SectionRef& s : placed.object->sections()) TRY(relocate(placed, s));
    for (const std::string& symbol : symbols) {
      const auto found = symbols_.find(symbol);
      if (found == symbols_.end()) return bad("no entry symbol", symbol);
      flat_.entries.push_back(found->second);
    }
    return std::move(flat_);
  }

 private:
  struct Placed {
    std::unique_ptr<ObjectFile> object;
    std::map<uint64_t, uint64_t> sections;  ///< offset of each section in the code, by its index
  };

  Error bad(std::string what, std::string found) const {
    return fail(Code::internal, "emit", "generated code: " + std::move(what)).found(std::move(found));
  }

  /// Appends the code sections, or the read-only data sections, of an object.
  Result<void> lay_out(Placed& placed, bool code) {
    for (const SectionRef& s : placed.object->sections()) {
      const uint64_t flags = ELFSectionRef(s).getFlags();
      if (!(flags & llvm::ELF::SHF_ALLOC) || s.getSize() == 0 || s.isText() != code) continue;
      auto name = s.getName();
      const std::string text = name ? name->str() : "";
      if (text.starts_with(".eh_frame")) continue;
      if (flags & (llvm::ELF::SHF_WRITE | llvm::ELF::SHF_TLS)) return bad("writable data", text);
      auto contents = s.getContents();
      if (!contents) return bad("unreadable section", text_of(contents.takeError()));
      const int64_t at = round_up(static_cast<int64_t>(flat_.bytes.size()), static_cast<int64_t>(s.getAlignment().value()));
      flat_.bytes.resize(at, std::byte{0xcc});
      const auto* data = reinterpret_cast<const std::byte*>(contents->data());
      flat_.bytes.insert(flat_.bytes.end(), data, data + contents->size());
      placed.sections[s.getIndex()] = static_cast<uint64_t>(at);
    }
    return {};
  }

  Result<void> define(const Placed& placed, const SymbolRef& symbol) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) return bad("unreadable symbol", "");
    if (name->empty() || !(*flags & SymbolRef::SF_Global) || (*flags & SymbolRef::SF_Undefined)) return {};
    symbols_.try_emplace(name->str(), TRY(place_of(placed, symbol)));
    return {};
  }

  Result<uint64_t> place_of(const Placed& placed, const SymbolRef& symbol) const {
    auto name = symbol.getName();
    const std::string text = name ? name->str() : "?";
    auto section = symbol.getSection();
    if (!section || *section == placed.object->section_end()) {
      const auto found = symbols_.find(text);
      return found == symbols_.end() ? Result<uint64_t>(bad("undefined symbol", text)) : found->second;
    }
    auto place = placed.sections.find((*section)->getIndex());
    if (place == placed.sections.end()) return bad("symbol in a section that is not kept", text);
    auto value = symbol.getValue();
    if (!value) return bad("symbol without value", text_of(value.takeError()));
    return place->second + *value;
  }

  Result<void> relocate(const Placed& placed, const SectionRef& section) {
    auto target = section.getRelocatedSection();
    if (!target) return bad("relocations", text_of(target.takeError()));
    if (*target == placed.object->section_end()) return {};
    auto place = placed.sections.find((*target)->getIndex());
    if (place == placed.sections.end()) return {};
    for (const RelocationRef& r : section.relocations()) TRY(apply(placed, r, place->second + r.getOffset()));
    return {};
  }

  Result<void> apply(const Placed& placed, const RelocationRef& r, uint64_t at) {
    const uint64_t type = r.getType();
    const auto width = architecture_->relative_bytes(type);
    if (!width) {
      llvm::SmallString<32> name;
      r.getTypeName(name);
      return bad("unsupported relocation", name.str().str());
    }
    auto addend = llvm::object::ELFRelocationRef(r).getAddend();
    if (!addend) return bad("relocation without addend", text_of(addend.takeError()));
    const auto value = static_cast<int64_t>(TRY(place_of(placed, *r.getSymbol()))) + *addend - static_cast<int64_t>(at);
    if (at + *width > flat_.bytes.size() || (*width == 4 && value != static_cast<int32_t>(value)))
      return bad("relocation out of range", fmt::format("{}", value));
    std::memcpy(flat_.bytes.data() + at, &value, *width);
    return {};
  }

  const Architecture* architecture_ = nullptr;  ///< of the objects
  std::vector<Placed> objects_;
  std::unordered_map<std::string, uint64_t> symbols_;  ///< offsets of global symbols, by name
  FlatCode flat_;
};

}  // namespace

Result<FlatCode> flatten(std::span<const std::string> objects, std::span<const std::string> symbols) {
  Linker linker;
  for (const std::string& object : objects) TRY(linker.add(object));
  return linker.finish(symbols);
}

}  // namespace tenon::codegen::machine
