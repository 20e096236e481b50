// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "codegen/llvm/object.h"

namespace tenon::codegen::machine {
namespace {

/// A small object file: `kernel` in .text refers to one symbol through one relocation at byte 4.
struct ObjectSpec {
  const char* symbol = ".LC";
  bool defined = true;  ///< in .rodata
  uint32_t relocation = R_X86_64_PC32;
  uint64_t rodata_flags = SHF_ALLOC;
};

std::string object_of(const ObjectSpec& spec) {
  const std::string names = std::string("\0.text\0.rodata\0.rela.text\0.symtab\0.strtab\0", 43);
  const std::string strings = std::string("\0kernel\0", 8) + spec.symbol + std::string("\0", 1);
  Elf64_Sym symbols[3] = {};
  symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 8};
  symbols[2] = {8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, static_cast<uint16_t>(spec.defined ? 2 : 0), 4, 0};
  const Elf64_Rela rela = {4, ELF64_R_INFO(2, spec.relocation), -4};
  std::string body;
  Elf64_Shdr headers[7] = {};
  auto section = [&](int i, const char* name, uint32_t type, uint64_t flags, const std::string& bytes, uint64_t align) {
    while ((sizeof(Elf64_Ehdr) + body.size()) % align) body += '\0';
    headers[i].sh_name = static_cast<uint32_t>(names.find(std::string(name) + '\0'));
    headers[i].sh_type = type;
    headers[i].sh_flags = flags;
    headers[i].sh_offset = sizeof(Elf64_Ehdr) + body.size();
    headers[i].sh_size = bytes.size();
    headers[i].sh_addralign = align;
    body += bytes;
  };
  auto raw = [](const auto& v) { return std::string(reinterpret_cast<const char*>(&v), sizeof v); };
  section(1, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(8, '\x90'), 16);
  section(2, ".rodata", SHT_PROGBITS, spec.rodata_flags, "0123abcd", 64);
  section(3, ".rela.text", SHT_RELA, 0, raw(rela), 8);
  headers[3].sh_link = 4, headers[3].sh_info = 1, headers[3].sh_entsize = sizeof(Elf64_Rela);
  section(4, ".symtab", SHT_SYMTAB, 0, raw(symbols), 8);
  headers[4].sh_link = 5, headers[4].sh_info = 1, headers[4].sh_entsize = sizeof(Elf64_Sym);
  section(5, ".strtab", SHT_STRTAB, 0, strings, 1);
  section(6, ".strtab", SHT_STRTAB, 0, names, 1);
  while ((sizeof(Elf64_Ehdr) + body.size()) % 8) body += '\0';
  Elf64_Ehdr e = {};
  std::memcpy(e.e_ident, ELFMAG, SELFMAG);
  e.e_ident[EI_CLASS] = ELFCLASS64, e.e_ident[EI_DATA] = ELFDATA2LSB, e.e_ident[EI_VERSION] = EV_CURRENT;
  e.e_type = ET_REL, e.e_machine = EM_X86_64, e.e_version = EV_CURRENT, e.e_ehsize = sizeof e;
  e.e_shoff = sizeof e + body.size(), e.e_shentsize = sizeof(Elf64_Shdr), e.e_shnum = 7, e.e_shstrndx = 6;
  return raw(e) + body + raw(headers);
}

const std::string kKernel[] = {"kernel"};

Result<FlatCode> flattened(const std::string& object, std::span<const std::string> symbols = kKernel) {
  return flatten({&object, 1}, symbols);
}

TEST(EmitObject, ConstantsAreReachedRelatively) {
  const auto flat = flattened(object_of({}));
  ASSERT_TRUE(flat) << flat.error().text();
  EXPECT_EQ(flat->entries, std::vector<uint64_t>{0});
  EXPECT_EQ(flat->bytes.size() % 64, 0u);
  int32_t displacement = 0;
  std::memcpy(&displacement, flat->bytes.data() + 4, 4);
  EXPECT_EQ(static_cast<char>(flat->bytes[8 + displacement]), 'a');  // symbol value 4 of .rodata, relative to the end of the field
}

TEST(EmitObject, FindsSymbolsInOtherObjects) {
  const std::string objects[] = {object_of({.symbol = "there", .defined = false}), object_of({.symbol = "there"})};
  const std::string symbols[] = {"kernel", "there"};
  const auto flat = flatten(objects, symbols);
  ASSERT_TRUE(flat) << flat.error().text();
  int32_t displacement = 0;
  std::memcpy(&displacement, flat->bytes.data() + 4, 4);
  EXPECT_EQ(8 + displacement, static_cast<int64_t>(flat->entries[1]));
  EXPECT_EQ(static_cast<char>(flat->bytes[flat->entries[1]]), 'a');
}

void expect_refused(const ObjectSpec& spec, const std::string& named) {
  const auto flat = flattened(object_of(spec));
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code(), Code::internal);
  EXPECT_NE(flat.error().text().find(named), std::string::npos) << flat.error().text();
}

TEST(EmitObject, GatesNameTheUnsupportedItem) {
  expect_refused({.symbol = "memset", .defined = false}, "memset");
  expect_refused({.relocation = R_X86_64_64}, "R_X86_64_64");
  expect_refused({.relocation = R_X86_64_GOTPCREL}, "GOTPCREL");
  expect_refused({.rodata_flags = SHF_ALLOC | SHF_WRITE}, "writable");
  const std::string other[] = {"other"};
  EXPECT_FALSE(flattened(object_of({}), other));
  EXPECT_FALSE(flattened("not an object"));
}

}  // namespace
}  // namespace tenon::codegen::machine
