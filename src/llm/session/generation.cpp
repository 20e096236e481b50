// SPDX-License-Identifier: Apache-2.0
#include "llm/session/generation.h"

namespace tenon::llm {

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::none: return "none";
    case StopReason::end_token: return "end_token";
    case StopReason::stop_string: return "stop_string";
    case StopReason::max_tokens: return "max_tokens";
    case StopReason::context_full: return "context_full";
    case StopReason::cancelled: return "cancelled";
  }
  return "none";
}

}  // namespace tenon::llm
