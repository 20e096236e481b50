// SPDX-License-Identifier: Apache-2.0
#include "codegen/targets/x86_avx512.h"

namespace tenon::codegen {

TARGET(x86_avx512) = kAvx512;

}  // namespace tenon::codegen
