/* SPDX-License-Identifier: Apache-2.0 */
/* demo::Gelu, y = x / 2 * (1 + erf(x / sqrt(2))), which the C compiler vectorises, on the engine's threads (./dev demo --plugin).
 *
 *   cc -O3 -march=native -shared -fPIC -Iinclude gelu.c -o gelu.so
 *   tenon rewrite model.onnx --rules gelu.rules --only --plugin ./gelu.so -o with_plugin.onnx
 *
 * The demo breaks it on purpose: -DBREAK=1 computes something else, -DBREAK=2 refuses larger tensors.
 */
#include <tenon/plugin.h>

#ifndef BREAK
#define BREAK 0
#endif

/* A rational function on [-4, 4], as Eigen has it (generic_fast_erf_float, with its coefficients); off by at most 2e-7. */
static inline float erf_of(float x) {
  x = x < -4 ? -4 : x > 4 ? 4 : x;
  const float s = x * x;
  float above = -2.72614225801306e-10F;
  above = above * s + 2.77068142495902e-08F;
  above = above * s - 2.10102402082508e-06F;
  above = above * s - 5.69250639462346e-05F;
  above = above * s - 7.34990630326855e-04F;
  above = above * s - 2.95459980854025e-03F;
  above = above * s - 1.60960333262415e-02F;
  float below = -1.45660718464996e-05F;
  below = below * s - 2.13374055278905e-04F;
  below = below * s - 1.68282697438203e-03F;
  below = below * s - 7.37332916720468e-03F;
  below = below * s - 1.42647390514189e-02F;
  return x * above / below;
}

struct piece {
  const float* x;
  float* y;
};

static void compute(void* argument, int64_t begin, int64_t end, int32_t thread) {
  const float* const x = ((const struct piece*)argument)->x;
  float* const y = ((const struct piece*)argument)->y;
  (void)thread;
  for (int64_t k = begin; k < end; ++k) y[k] = x[k] * (BREAK == 1 ? 0.4F : 0.5F) * (1 + erf_of(x[k] * 0.70710678F));
}

static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  (void)host;
  (void)node;
  *self = 0; /* a node has nothing to keep */
  return TENON_OK;
}

static int32_t enqueue(void* self, const tenon_call* call) {
  (void)self;
  const tenon_tensor* const x = call->operands[0];
  struct piece piece = {x->data, call->results[0]->data};
  int64_t count = 1;
  for (int32_t axis = 0; axis < x->rank; ++axis) count *= x->sizes[axis];
  if (BREAK == 2 && count > 100000) return call->host->fail(call->host, TENON_FAILED, "more than 100000 elements are too much for me");
  return call->parallel_for(call, count, 4096, compute, &piece);
}

static const tenon_port kX = {.struct_size = sizeof(tenon_port), .name = "x", .dtypes = TENON_DTYPE_BIT(TENON_F32)};
static const tenon_port kY = {.struct_size = sizeof(tenon_port), .name = "y", .in_place = 1};
static const tenon_port* const kOperands[] = {&kX};
static const tenon_port* const kResults[] = {&kY};
static const char* const kSamples[] = {"f32[2,3]", "f32[0,5]", "f32[]"};

static const tenon_op kGelu = {.struct_size = sizeof(tenon_op),
                               .name_space = "demo",
                               .name = "Gelu",
                               .version = "1",
                               .docs = "x / 2 * (1 + erf(x / sqrt(2)))",
                               .operand_count = 1,
                               .operands = kOperands,
                               .result_count = 1,
                               .results = kResults,
                               .sample_count = 3,
                               .samples = kSamples,
                               .expression = "Gelu(x)", /* its type too */
                               .create = create,
                               .enqueue = enqueue};
static const tenon_op* const kOps[] = {&kGelu};
static const tenon_library kLibrary = {.struct_size = sizeof(tenon_library), .needs = 1, .name = "gelu", .op_count = 1, .ops = kOps};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  return &kLibrary;
}
