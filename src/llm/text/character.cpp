// SPDX-License-Identifier: Apache-2.0
#include "llm/text/character.h"

#include <utf8proc.h>

namespace tenon::llm {

CharacterKind kind_of(uint32_t code) {
  using enum CharacterKind;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU: return upper;
    case UTF8PROC_CATEGORY_LL: return lower;
    case UTF8PROC_CATEGORY_LT: return title;
    case UTF8PROC_CATEGORY_LM: return letter_modifier;
    case UTF8PROC_CATEGORY_LO: return letter;
    case UTF8PROC_CATEGORY_MN: return mark_nonspacing;
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return mark;
    case UTF8PROC_CATEGORY_ND: return digit;
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return number;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return punctuation;
    case UTF8PROC_CATEGORY_SK: return symbol_modifier;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SO: return symbol;
    case UTF8PROC_CATEGORY_ZS: return space;
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return separator;
    case UTF8PROC_CATEGORY_CC: return control;
    case UTF8PROC_CATEGORY_CF: return format;
    case UTF8PROC_CATEGORY_CS: return surrogate;
    case UTF8PROC_CATEGORY_CO: return private_use;
    default: return unassigned;
  }
}

uint32_t upper_character(uint32_t code) { return static_cast<uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))); }
uint32_t lower_character(uint32_t code) { return static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))); }
uint32_t title_character(uint32_t code) { return static_cast<uint32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))); }

}  // namespace tenon::llm
