// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenon {

/// The name and the release, as `tenon --version` and engines say them.
inline constexpr const char* kProducer = "tenon 0.1.0";

}  // namespace tenon
