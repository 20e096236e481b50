// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

namespace tenon::backend {

std::string_view name_of(Overheads::Source source) {
  switch (source) {
    case Overheads::Source::guessed: return "guessed";
    case Overheads::Source::calibrated: return "calibrated";
    case Overheads::Source::measured: return "measured";
  }
  return "unknown";
}

}  // namespace tenon::backend
