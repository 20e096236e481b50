// SPDX-License-Identifier: Apache-2.0
#include "cli/console/verb.h"

namespace tenon::cli {

#define TENON_ENTRY(IDENT)          \
  namespace verb_##IDENT {          \
    extern const Verb verb_##IDENT; \
  }
#include "tenon/verbs_list.inc"
#undef TENON_ENTRY

std::span<const NamedVerb> all_verbs() {
  static constexpr NamedVerb kVerbs[] = {
#define TENON_ENTRY(IDENT) {#IDENT, &verb_##IDENT::verb_##IDENT},
#include "tenon/verbs_list.inc"
#undef TENON_ENTRY
  };
  return kVerbs;
}

}  // namespace tenon::cli
