// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/object.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/checked.h"

namespace tenon::codegen::machine {
namespace {

using llvm::object::ELFSectionRef;
using llvm::object::ObjectFile;
using llvm::object::RelocationRef;
using llvm::object::SectionRef;
using llvm::object::SymbolRef;

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

class Linker {
 public:
  Linker(const ObjectFile& object, std::span<const std::string> symbols) : object_(object), symbols_(symbols) {}

  Result<Flat> run() {
    TRY(lay_out(true));
    TRY(lay_out(false));
    for (const SectionRef& s : object_.sections()) TRY(relocate(s));
    flat_.entries.assign(symbols_.size(), kNowhere);
    for (const SymbolRef& s : object_.symbols()) TRY(find_entry(s));
    for (size_t i = 0; i < symbols_.size(); ++i)
      if (flat_.entries[i] == kNowhere) return bad("no entry symbol", symbols_[i]);
    flat_.bytes.resize(round_up(static_cast<int64_t>(flat_.bytes.size()), 64), std::byte{0xcc});
    return std::move(flat_);
  }

 private:
  Error bad(std::string what, std::string found) const {
    return fail(Code::internal, "emit", "generated code: " + std::move(what)).found(std::move(found));
  }

  Result<void> lay_out(bool code) {
    for (const SectionRef& s : object_.sections()) {
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
      places_[s.getIndex()] = static_cast<uint64_t>(at);
    }
    return {};
  }

  Result<uint64_t> place_of(const SymbolRef& symbol) const {
    auto name = symbol.getName();
    const std::string text = name ? name->str() : "?";
    auto section = symbol.getSection();
    if (!section || *section == object_.section_end()) return bad("undefined symbol", text);
    auto place = places_.find((*section)->getIndex());
    if (place == places_.end()) return bad("symbol in a section that is not kept", text);
    auto value = symbol.getValue();
    if (!value) return bad("symbol without value", text_of(value.takeError()));
    return place->second + *value;
  }

  Result<void> relocate(const SectionRef& section) {
    auto target = section.getRelocatedSection();
    if (!target) return bad("relocations", text_of(target.takeError()));
    if (*target == object_.section_end()) return {};
    auto place = places_.find((*target)->getIndex());
    if (place == places_.end()) return {};
    for (const RelocationRef& r : section.relocations()) TRY(apply(r, place->second + r.getOffset()));
    return {};
  }

  Result<void> apply(const RelocationRef& r, uint64_t at) {
    const uint64_t type = r.getType();
    const bool relative32 = type == llvm::ELF::R_X86_64_PC32 || type == llvm::ELF::R_X86_64_PLT32;
    if (!relative32 && type != llvm::ELF::R_X86_64_PC64) {
      llvm::SmallString<32> name;
      r.getTypeName(name);
      return bad("unsupported relocation", name.str().str());
    }
    auto addend = llvm::object::ELFRelocationRef(r).getAddend();
    if (!addend) return bad("relocation without addend", text_of(addend.takeError()));
    const auto value = static_cast<int64_t>(TRY(place_of(*r.getSymbol()))) + *addend - static_cast<int64_t>(at);
    const size_t width = relative32 ? 4 : 8;
    if (at + width > flat_.bytes.size() || (relative32 && value != static_cast<int32_t>(value)))
      return bad("relocation out of range", fmt::format("{}", value));
    std::memcpy(flat_.bytes.data() + at, &value, width);
    return {};
  }

  Result<void> find_entry(const SymbolRef& symbol) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) return bad("unreadable symbol", "");
    if (name->empty()) return {};
    if (*flags & SymbolRef::SF_Undefined) return bad("undefined symbol", name->str());
    const auto at = std::find(symbols_.begin(), symbols_.end(), std::string_view(*name));
    if (at != symbols_.end()) flat_.entries[at - symbols_.begin()] = TRY(place_of(symbol));
    return {};
  }

  const ObjectFile& object_;
  static constexpr uint64_t kNowhere = ~uint64_t{0};
  std::span<const std::string> symbols_;
  Flat flat_;
  std::map<uint64_t, uint64_t> places_;  ///< section number to its place
};

}  // namespace

Result<Flat> flatten(std::string_view bytes, std::span<const std::string> symbols) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "kernels");
  auto object = ObjectFile::createELFObjectFile(buffer);
  if (!object) return fail(Code::internal, "emit", "generated code: " + text_of(object.takeError()));
  return Linker(**object, symbols).run();
}

}  // namespace tenon::codegen::machine
