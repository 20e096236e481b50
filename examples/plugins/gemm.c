/* SPDX-License-Identifier: Apache-2.0 */
/* acme::Gemm, y = a b, computed by an inner graph: Tenon compiles the product with the model, and `enqueue` runs it.
 *
 *   cc -O2 -shared -fPIC -Iinclude gemm.c -o gemm.so
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/plugin.h>

/* The sizes m, k and n as the graph says them: numbers where all runs have them, else symbols, for which it takes any. */
struct gemm {
  char sizes[3][24];
};

static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  static const struct gemm kAny = {{"m", "k", "n"}};
  struct gemm* const made = malloc(sizeof *made);
  (void)node;
  if (!made) return host->fail(host, TENON_OUT_OF_MEMORY, "no memory for an object");
  *made = kAny;
  *self = made;
  return TENON_OK;
}

static int32_t configure(void* self, const tenon_ranges* ranges) {
  static const int kOf[][2] = {{0, 0}, {0, 1}, {1, 1}}; /* operand and axis */
  for (int k = 0; k < 3; ++k) {
    const tenon_tensor *const least = ranges->least[kOf[k][0]], *const most = ranges->most[kOf[k][0]];
    const int axis = kOf[k][1];
    if (least->dtype == TENON_NO_DTYPE || least->sizes[axis] != most->sizes[axis]) continue;
    snprintf(((struct gemm*)self)->sizes[k], sizeof((struct gemm*)self)->sizes[k], "%lld", (long long)least->sizes[axis]);
  }
  return TENON_OK;
}

static int32_t infer(void* self, tenon_inference* inference) {
  (void)self;
  const tenon_host* const host = inference->host;
  const tenon_type *const a = inference->operands[0], *const b = inference->operands[1];
  tenon_type* const y = inference->results[0];
  if (a->rank != 2 || b->rank != 2) return host->fail(host, TENON_NOT_SUPPORTED, "a and b must be matrices");
  y->dtype = TENON_F32;
  y->rank = 2;
  y->sizes[0] = a->sizes[0];
  y->sizes[1] = b->sizes[1];
  return TENON_OK;
}

/* The first graph that a node adds has the number 0. Where b is a constant the graph holds it, laid out as products like it, and has one
 * operand. */
static int32_t add_graphs(void* self, const tenon_graphs* graphs) {
  const struct gemm* const it = self;
  const char *const m = it->sizes[0], *const k = it->sizes[1], *const n = it->sizes[2];
  const char* const nodes = "  y = MatMul(a, b)\n  return y\n}\n";
  tenon_tensor b = {.struct_size = sizeof(tenon_tensor)};
  const tenon_tensor* const constants[] = {&b};
  char text[256];
  uint32_t number;
  const int32_t status = graphs->constant(graphs, 1, &b);
  if (status != TENON_OK) return status;
  if (b.dtype == TENON_NO_DTYPE) {
    snprintf(text, sizeof text, "graph product(a: f32[%s,%s], b: f32[%s,%s]) {\n%s", m, k, k, n, nodes);
    return graphs->add(graphs, text, &number);
  }
  snprintf(text, sizeof text, "graph product(a: f32[%s,%s]) {\n  const b: f32[%s,%s] = @0\n%s", m, k, k, n, nodes);
  return graphs->add_with(graphs, text, 1, constants, &number);
}

/* A graph that holds b takes the first operand alone. */
static int32_t enqueue(void* self, const tenon_call* call) {
  (void)self;
  return call->run_graph(call, 0, call->operands, call->results);
}

#define PORT(NAME) {.struct_size = sizeof(tenon_port), .name = NAME, .dtypes = TENON_DTYPE_BIT(TENON_F32)}
static const tenon_port kA = PORT("a"), kB = PORT("b"), kY = PORT("y");
static const tenon_port* const kOperands[] = {&kA, &kB};
static const tenon_port* const kResults[] = {&kY};
static const char* const kSamples[] = {"f32[2,3], f32[3,4]", "f32[0,3], f32[3,4]", "f32[5,64], f32[64,7]"};

static const tenon_op kGemm = {.struct_size = sizeof(tenon_op),
                               .name_space = "acme",
                               .name = "Gemm",
                               .version = "1",
                               .docs = "the product of two matrices, by an inner graph",
                               .operand_count = 2,
                               .operands = kOperands,
                               .result_count = 1,
                               .results = kResults,
                               .sample_count = 3,
                               .samples = kSamples,
                               .expression = "MatMul(a, b)",
                               .create = create,
                               .destroy = free,
                               .infer = infer,
                               .configure = configure,
                               .add_graphs = add_graphs,
                               .enqueue = enqueue};
static const tenon_op* const kOps[] = {&kGemm};
static const tenon_library kLibrary = {
    .struct_size = sizeof(tenon_library), .needs = 1, .name = "gemm", .version = "1.0", .op_count = 1, .ops = kOps};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  return &kLibrary;
}
