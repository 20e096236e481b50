// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenon {

/// Name and release of Tenon, as in `tenon --version` and in engine files.
inline constexpr const char* kProducer = "tenon 0.1.0";

}  // namespace tenon
