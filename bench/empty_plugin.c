/* SPDX-License-Identifier: Apache-2.0 */
/* Ops that do nothing, to time what surrounds them: -DOPS=10 of them, -DPADDING=100000 bytes in addition, -DSPACE='"one"' their namespace. */
#include <tenon/plugin.h>

#ifndef OPS
#define OPS 1
#endif
#ifndef SPACE
#define SPACE "bench"
#endif
#ifdef PADDING
char padding[PADDING] = {1};
#endif

static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  (void)host;
  (void)node;
  *self = 0;
  return TENON_OK;
}

static int32_t infer(void* self, tenon_inference* inference) {
  (void)self;
  for (uint32_t k = 0; k < inference->result_count; ++k) {
    inference->results[k]->dtype = inference->operands[k]->dtype;
    inference->results[k]->rank = inference->operands[k]->rank;
    for (int32_t axis = 0; axis < inference->operands[k]->rank; ++axis) inference->results[k]->sizes[axis] = inference->operands[k]->sizes[axis];
  }
  return TENON_OK;
}

static int32_t enqueue(void* self, const tenon_call* call) {
  (void)self;
  (void)call;
  return TENON_OK;
}

#define PORT(NAME) {.struct_size = sizeof(tenon_port), .name = NAME}
static const tenon_port kPorts[] = {PORT("a"), PORT("b"), PORT("c"), PORT("d")};
static const tenon_port* const kFour[] = {&kPorts[0], &kPorts[1], &kPorts[2], &kPorts[3]};

static const char* const kNames[] = {"Empty0", "Empty1", "Empty2", "Empty3", "Empty4", "Empty5", "Empty6", "Empty7", "Empty8", "Empty9"};
static tenon_op ops[OPS];
static const tenon_op* pointers[OPS];
static tenon_library library = {.struct_size = sizeof(tenon_library), .needs = 1, .op_count = OPS, .ops = pointers};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  for (int k = 0; k < OPS; ++k) {
    ops[k] = (tenon_op){.struct_size = sizeof(tenon_op),
                        .name_space = SPACE,
                        .name = kNames[k],
                        .version = "1",
                        .operand_count = 4,
                        .operands = kFour,
                        .result_count = 2,
                        .results = kFour,
                        .create = create,
                        .infer = infer,
                        .enqueue = enqueue};
    pointers[k] = &ops[k];
  }
  return &library;
}
