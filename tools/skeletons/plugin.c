/* mine::Skeleton, y = scale * x. What is to be changed: the struct, create, infer, compute, and what stands at the end.
 *
 *   cc -O2 -shared -fPIC -IINCLUDE skeleton.c -o skeleton.so -lm
 *   tenon plugin test ./skeleton.so
 *   tenon build model.onnx --plugin ./skeleton.so -o model.tenon       where a node is of the domain "mine" and the op "Skeleton"
 */
#include <stdlib.h>
#include <tenon/plugin.h>

/* One node. */
struct skeleton {
  float scale;
};

/* Fields are those that kFields declares, in that order, with defaults filled in and ranges checked. */
static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  struct skeleton* const made = malloc(sizeof *made);
  if (!made) return host->fail(host, TENON_OUT_OF_MEMORY, "no memory for an object");
  made->scale = *(const float*)node->fields[0]->data;
  *self = made;
  return TENON_OK;
}

/* The type of y, by that of x; sizes may be symbols. */
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

/* What threads share while one run computes. */
struct run {
  const float* x;
  float* y;
  float scale;
};

/* Elements [begin, end), in any thread. */
static void compute(void* argument, int64_t begin, int64_t end, int32_t thread) {
  const struct run* const run = argument;
  (void)thread;
  for (int64_t k = begin; k < end; ++k) run->y[k] = run->scale * run->x[k];
}

static int32_t enqueue(void* self, const tenon_call* call) {
  const tenon_tensor* const x = call->operands[0];
  struct run run = {x->data, call->results[0]->data, ((const struct skeleton*)self)->scale};
  int64_t count = 1;
  for (int32_t axis = 0; axis < x->rank; ++axis) count *= x->sizes[axis];
  return call->parallel_for(call, count, 4096, compute, &run); /* its error is ours */
}

static const tenon_port kX = {.struct_size = sizeof(tenon_port), .name = "x", .dtypes = TENON_DTYPE_BIT(TENON_F32)};
static const tenon_port kY = {.struct_size = sizeof(tenon_port), .name = "y"};
static const tenon_port* const kOperands[] = {&kX};
static const tenon_port* const kResults[] = {&kY};

static const float kScale = 1;
static const tenon_field_rule kScaleRule = {.struct_size = sizeof(tenon_field_rule),
                                            .name = "scale",
                                            .type = TENON_FIELD_F32,
                                            .length = 1,
                                            .otherwise = &kScale, /* without it, nodes must say it */
                                            .docs = "what x is multiplied by"};
static const tenon_field_rule* const kFields[] = {&kScaleRule};

/* Cases that `tenon plugin test` starts from. */
static const char* const kSamples[] = {"f32[2,3]", "f32[0,5]; scale=2.5", "f32[]; scale=-1.0"};

static const tenon_op kSkeleton = {.struct_size = sizeof(tenon_op),
                                   .name_space = "mine",
                                   .name = "Skeleton",
                                   .version = "1",
                                   .docs = "scale * x",
                                   .operand_count = 1,
                                   .operands = kOperands,
                                   .result_count = 1,
                                   .results = kResults,
                                   .field_count = 1,
                                   .fields = kFields,
                                   .sample_count = sizeof kSamples / sizeof *kSamples,
                                   .samples = kSamples,
                                   .expression = "Mul(x, scale)", /* what it computes, in ops of ONNX: what it is tested against */
                                   .create = create,
                                   .destroy = free,
                                   .infer = infer,
                                   .enqueue = enqueue};
static const tenon_op* const kOps[] = {&kSkeleton};
static const tenon_library kLibrary = {
    .struct_size = sizeof(tenon_library), .needs = 1, .name = "skeleton", .version = "1.0", .op_count = 1, .ops = kOps};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  return &kLibrary;
}
