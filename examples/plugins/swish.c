/* SPDX-License-Identifier: Apache-2.0 */
/* acme::Swish, y = x * sigmoid(beta * x), computed in C on the engine's threads.
 *
 *   cc -O2 -shared -fPIC -Iinclude swish.c -o swish.so -lm
 */
#include <math.h>
#include <stdlib.h>
#include <tenon/plugin.h>

struct swish {
  float beta;
};

static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  struct swish* const made = malloc(sizeof *made);
  if (!made) return host->fail(host, TENON_OUT_OF_MEMORY, "no memory for an object");
  made->beta = *(const float*)node->fields[0]->data; /* the only field, and declared as one f32 */
  *self = made;
  return TENON_OK;
}

static int32_t infer(void* self, tenon_inference* inference) {
  (void)self;
  const tenon_type* const x = inference->operands[0];
  tenon_type* const y = inference->results[0];
  if (x->rank < 0) return inference->host->fail(inference->host, TENON_NOT_SUPPORTED, "the rank of x is not known");
  y->dtype = x->dtype;
  y->rank = x->rank;
  for (int32_t axis = 0; axis < x->rank; ++axis) y->sizes[axis] = x->sizes[axis];
  return TENON_OK;
}

struct piece {
  const float* x;
  float* y;
  float beta;
};

static void compute(void* argument, int64_t begin, int64_t end, int32_t thread) {
  const struct piece* const p = argument;
  (void)thread;
  for (int64_t k = begin; k < end; ++k) p->y[k] = p->x[k] / (1 + expf(-p->beta * p->x[k]));
}

static int32_t enqueue(void* self, const tenon_call* call) {
  const tenon_tensor* const x = call->operands[0];
  struct piece piece = {x->data, call->results[0]->data, ((const struct swish*)self)->beta};
  int64_t count = 1;
  for (int32_t axis = 0; axis < x->rank; ++axis) count *= x->sizes[axis];
  return call->parallel_for(call, count, 4096, compute, &piece);
}

static const float kBeta = 1;
static const tenon_port kX = {.struct_size = sizeof(tenon_port), .name = "x", .dtypes = TENON_DTYPE_BIT(TENON_F32)};
static const tenon_port kY = {.struct_size = sizeof(tenon_port), .name = "y", .in_place = 1};
static const tenon_port* const kOperands[] = {&kX};
static const tenon_port* const kResults[] = {&kY};
static const tenon_field_rule kBetaRule = {.struct_size = sizeof(tenon_field_rule),
                                           .name = "beta",
                                           .type = TENON_FIELD_F32,
                                           .length = 1,
                                           .otherwise = &kBeta,
                                           .docs = "how steep it is"};
static const tenon_field_rule* const kFields[] = {&kBetaRule};
static const char* const kSamples[] = {"f32[2,3]", "f32[0,5]; beta=1.5", "f32[]; beta=-1.0"};

static const tenon_op kSwish = {.struct_size = sizeof(tenon_op),
                                .name_space = "acme",
                                .name = "Swish",
                                .version = "1",
                                .docs = "x * sigmoid(beta * x), an activation function",
                                .operand_count = 1,
                                .operands = kOperands,
                                .result_count = 1,
                                .results = kResults,
                                .field_count = 1,
                                .fields = kFields,
                                .sample_count = 3,
                                .samples = kSamples,
                                .expression = "Mul(x, Sigmoid(Mul(x, beta)))",
                                .create = create,
                                .destroy = free,
                                .infer = infer,
                                .enqueue = enqueue};
static const tenon_op* const kOps[] = {&kSwish};
static const tenon_library kLibrary = {
    .struct_size = sizeof(tenon_library), .needs = 1, .name = "swish", .version = "1.0", .op_count = 1, .ops = kOps};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  return &kLibrary;
}
