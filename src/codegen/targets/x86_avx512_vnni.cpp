// SPDX-License-Identifier: Apache-2.0
#include "codegen/targets/x86_avx512_vnni.h"

namespace tenon::codegen {

TARGET(x86_avx512_vnni) = kAvx512Vnni;

}  // namespace tenon::codegen
