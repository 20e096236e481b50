/* SPDX-License-Identifier: Apache-2.0 */
/* Values that hold tensors are described, and refused as arrays. */
#include <stdio.h>

#include "checks.h"

static const int64_t shape[] = {2};
static float x[2] = {3, 4};

static int check_result(const char* path, const tenon_array* input) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  CHECK(tenon_engine_describe(engine)->entries[0]->outputs[0]->kind == TENON_KIND_SEQUENCE);
  CHECK_OK(tenon_context_run(context, NULL, input, 1, NULL, 0, NULL, &error));
  tenon_array got = {.struct_size = sizeof got};
  CHECK_FAILS(TENON_CODE_NOT_SUPPORTED, "sequences", tenon_context_result(context, "list", &got, &error));
  CHECK_OK(tenon_context_result(context, "y", &got, &error));
  CHECK(got.dtype == TENON_DTYPE_F32 && ((const float*)got.data)[1] == 16);
  const tenon_array output = {sizeof output, "list", TENON_DTYPE_F32, 1, shape, (float[2]){0}, sizeof x};
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "not supported yet", tenon_context_run(context, NULL, input, 1, &output, 1, NULL, &error));
  tenon_context_free(context);
  tenon_engine_free(engine);
  return failures;
}

int test_containers(const char* path, const char* taker) {
  int failures = 0;
  tenon_array input = {sizeof input, "x", TENON_DTYPE_F32, 1, shape, x, sizeof x};
  failures += check_result(path, &input);
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(taker, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  const tenon_value_info* const list = tenon_engine_describe(engine)->entries[0]->inputs[0];
  CHECK(list->kind == TENON_KIND_SEQUENCE && list->dtype == TENON_DTYPE_F32 && list->rank == -1 && list->dimensions == NULL);
  input.name = "s";
  CHECK_FAILS(TENON_CODE_NOT_SUPPORTED, "sequences", tenon_context_run(context, NULL, &input, 1, NULL, 0, NULL, &error));
  tenon_context_free(context);
  tenon_engine_free(engine);
  return failures;
}
