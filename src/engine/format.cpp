// SPDX-License-Identifier: Apache-2.0
#include "engine/format.h"

namespace tenon::engine {

std::string_view name_of(SectionType type) {
  switch (type) {
    case SectionType::graph_text: return "graph text";
    case SectionType::manifest: return "manifest";
    case SectionType::program: return "program";
    case SectionType::kernels: return "kernels";
    case SectionType::memory_plan: return "memory plan";
    case SectionType::weights: return "weights";
    case SectionType::code: return "code";
    case SectionType::provenance: return "provenance";
    case SectionType::constants_index: return "constants index";
    case SectionType::target: return "target";
    case SectionType::tactics: return "tactics";
    case SectionType::plugins: return "plugins";
    case SectionType::plugin_library: return "plugin_library";
    case SectionType::plugin_times: return "plugin_times";
    case SectionType::plan_record: return "plan record";
    case SectionType::programs: return "programs";
    case SectionType::language_text: return "language text";
  }
  return "unknown";
}

}  // namespace tenon::engine
