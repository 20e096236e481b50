/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that may be left out, and an input that is an output. */
#include <stdio.h>
#include <string.h>

#include "checks.h"

static const int64_t shape[] = {2};

static tenon_array array_of(const char* name, float* data) {
  const tenon_array a = {sizeof a, name, TENON_DTYPE_F32, 1, shape, data, 2 * sizeof(float)};
  return a;
}

static float second_of(const tenon_context* context) {
  tenon_array y = {.struct_size = sizeof y};
  return tenon_context_result(context, "y", &y, NULL) == TENON_CODE_OK ? ((const float*)y.data)[1] : -1;
}

static int check_defaults(tenon_context* context) {
  int failures = 0;
  float x[2] = {3, 4}, w[2] = {5, 6};
  tenon_array inputs[2] = {array_of("x", x), array_of("w", w)};
  CHECK_OK(tenon_context_run(context, NULL, inputs, 1, NULL, 0, NULL, &error));
  CHECK(second_of(context) == 8);
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error));
  CHECK(second_of(context) == 24);
  inputs[1] = (tenon_array){.struct_size = sizeof inputs[1]};
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error));
  CHECK(second_of(context) == 8);
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "input 'x'", tenon_context_run(context, NULL, inputs + 1, 1, NULL, 0, NULL, &error));
  return failures;
}

static int check_returned_input(tenon_context* context) {
  int failures = 0;
  float x[2] = {3, 4}, copy[2] = {0};
  const tenon_array input = array_of("x", x);
  tenon_array output = array_of("x", copy);
  CHECK_OK(tenon_context_run(context, NULL, &input, 1, &output, 1, NULL, &error));
  CHECK(copy[0] == 3 && copy[1] == 4);
  copy[1] = 0;
  output.shape = NULL;
  CHECK_OK(tenon_context_run(context, NULL, &input, 1, &output, 1, NULL, &error));
  CHECK(copy[1] == 4);
  copy[1] = 0;
  output.bytes = sizeof(float);
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "output 'x'", tenon_context_run(context, NULL, &input, 1, &output, 1, NULL, &error));
  CHECK(copy[1] == 0);
  return failures;
}

int test_defaults(const char* path) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  const tenon_entry_info* const entry = tenon_engine_describe(engine)->entries[0];
  CHECK(entry->inputs[0]->has_default == 0 && entry->inputs[1]->has_default == 1 && strcmp(entry->inputs[1]->name, "w") == 0);
  failures += check_defaults(context) + check_returned_input(context);
  tenon_context_free(context);
  tenon_engine_free(engine);
  return failures;
}
