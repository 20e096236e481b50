/* SPDX-License-Identifier: Apache-2.0 */
/* Engines and their runs. */
#include <stdio.h>
#include <string.h>

#include "checks.h"

static tenon_array array_of(const char* name, int32_t dtype, int32_t rank, const int64_t* shape, void* data, size_t bytes) {
  tenon_array a = {sizeof a, name, dtype, rank, shape, data, bytes};
  return a;
}

#define ROWS 3
static const int64_t x_shape[] = {ROWS, 4}, k_shape[] = {4};
static float x[ROWS * 4] = {1, 0, 3, 4, 0, 6, 7, 8, 9, 10, 0, 12};
static float k[4] = {1, 2, 3, 4};

static tenon_array input_x(void) { return array_of("x", TENON_DTYPE_F32, 2, x_shape, x, sizeof x); }
static tenon_array input_k(void) { return array_of("k", TENON_DTYPE_F32, 1, k_shape, k, sizeof k); }

int test_descriptions(const char* path) {
  int failures = 0;
  tenon_engine* engine = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  const tenon_engine_info* const info = tenon_engine_describe(engine);
  CHECK(info != NULL && info->struct_size == sizeof *info);
  if (info == NULL) return failures;
  CHECK(info->entry_count == 1 && info->state_count == 0 && info->missing_plugins[0] == '\0');
  const tenon_entry_info* const entry = info->entries[0];
  CHECK(entry->input_count == 2 && entry->output_count == 2);
  const tenon_value_info* const first = entry->inputs[0];
  CHECK(strcmp(first->name, "x") == 0 && first->dtype == TENON_DTYPE_F32 && first->kind == TENON_KIND_TENSOR && first->rank == 2);
  CHECK(strcmp(first->dimensions[0], "n") == 0 && strcmp(first->dimensions[1], "4") == 0);
  CHECK(first->lower[1] == 4 && first->upper[1] == 4 && first->upper[0] > 4 && first->has_default == 0);
  CHECK(strcmp(entry->outputs[1]->name, "places") == 0 && entry->outputs[1]->dtype == TENON_DTYPE_I64);
  tenon_engine_free(engine);
  CHECK(tenon_engine_describe(NULL) == NULL);
  return failures;
}

/* Results in the context, by position and by name. */
static int check_results(const tenon_context* context) {
  int failures = 0;
  tenon_array got = {.struct_size = sizeof got};
  CHECK(tenon_context_result_count(context) == 2);
  CHECK_OK(tenon_context_result_at(context, 0, &got, &error));
  CHECK(strcmp(got.name, "product") == 0 && got.dtype == TENON_DTYPE_F32 && got.rank == 2 && got.shape[0] == ROWS && got.shape[1] == 4);
  CHECK(got.bytes == sizeof x && got.data != NULL);
  for (int i = 0; got.data != NULL && i < ROWS * 4; ++i) CHECK(((const float*)got.data)[i] == x[i] * k[i % 4]);
  CHECK_OK(tenon_context_result(context, "places", &got, &error));
  CHECK(got.dtype == TENON_DTYPE_I64 && got.shape[0] == 2 && got.shape[1] == 9);
  CHECK_FAILS(TENON_CODE_INDEX_OUT_OF_RANGE, "below 2", tenon_context_result_at(context, 2, &got, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "did you mean 'places'", tenon_context_result(context, "place", &got, &error));
  got.struct_size = 0;
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "struct_size", tenon_context_result_at(context, 0, &got, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_result_at(context, 0, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_result(context, NULL, &got, &error));
  return failures;
}

/* One result in memory of its shape, one in memory that is larger than a result whose shape the data decide. */
static int check_results_in_buffers(tenon_context* context, const tenon_array* inputs) {
  int failures = 0;
  float product[ROWS * 4] = {0};
  int64_t places[64] = {0};
  const tenon_array outputs[2] = {array_of("places", TENON_DTYPE_I64, 0, NULL, places, sizeof places),
                                  array_of("product", TENON_DTYPE_F32, 2, x_shape, product, sizeof product)};
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, outputs, 2, NULL, &error));
  tenon_array got = {.struct_size = sizeof got};
  CHECK_OK(tenon_context_result(context, "product", &got, &error));
  CHECK(got.data == (void*)product && product[3] == 16);
  CHECK_OK(tenon_context_result(context, "places", &got, &error));
  CHECK(got.data == (void*)places && got.rank == 2 && got.shape[1] == 9 && got.bytes == 2 * 9 * sizeof(int64_t) && places[1] == 0);
  product[3] = -1;
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error));
  CHECK(product[3] == -1); /* the buffers were of that run alone */
  const tenon_array left[2] = {array_of(NULL, TENON_DTYPE_NONE, 0, NULL, NULL, 0), outputs[0]};
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, left, 2, NULL, &error));
  CHECK(product[3] == -1);
  return failures;
}

int test_runs(const char* path) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  tenon_engine_free(engine); /* the context keeps what it needs */
  CHECK(tenon_context_result_count(context) == 0);
  const tenon_array by_name[2] = {input_k(), input_x()};
  CHECK_OK(tenon_context_run(context, "", by_name, 2, NULL, 0, NULL, &error));
  failures += check_results(context);
  CHECK(tenon_context_arena_bytes(NULL) == 0);
  tenon_array by_position[2] = {input_x(), input_k()};
  by_position[0].name = by_position[1].name = NULL;
  CHECK_OK(tenon_context_run(context, NULL, by_position, 2, NULL, 0, NULL, &error));
  failures += check_results(context);
  failures += check_results_in_buffers(context, by_position);
  /* Another number of rows, and none at all. */
  const int64_t one[] = {1, 4}, none[] = {0, 4};
  by_position[0] = array_of("x", TENON_DTYPE_F32, 2, one, x, 4 * sizeof(float));
  CHECK_OK(tenon_context_run(context, NULL, by_position, 2, NULL, 0, NULL, &error));
  by_position[0] = array_of("x", TENON_DTYPE_F32, 2, none, NULL, 0);
  CHECK_OK(tenon_context_run(context, NULL, by_position, 2, NULL, 0, NULL, &error));
  tenon_array got = {.struct_size = sizeof got};
  CHECK_OK(tenon_context_result_at(context, 1, &got, &error));
  CHECK(got.shape[1] == 0 && got.bytes == 0);
  tenon_context_free(context);
  return failures;
}

/* A call of an input whose fields were changed. */
#define REFUSED_INPUT(code, words, change)                                                        \
  do {                                                                                            \
    tenon_array inputs[2] = {input_x(), input_k()};                                               \
    change;                                                                                       \
    CHECK_FAILS(code, words, tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error)); \
    CHECK(tenon_context_result_count(context) == 0);                                              \
  } while (0)

static int check_refused_inputs(tenon_context* context) {
  int failures = 0;
  const int64_t wide[] = {ROWS, 5}, negative[] = {-ROWS, 4}, huge[] = {INT64_MAX, 4};
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "did you mean 'x'", inputs[0].name = "X");
  REFUSED_INPUT(TENON_CODE_BAD_USAGE, "given twice", inputs[1].name = "x");
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "element type", inputs[0].dtype = 0);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "element type", inputs[0].dtype = 99);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "element type", inputs[0].dtype = -1);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "input 'x'", inputs[0].dtype = TENON_DTYPE_I32);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "input 'x'", inputs[0].dtype = TENON_DTYPE_STRING);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "rank", inputs[0].rank = 1);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "rank", inputs[0].rank = -1);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "0 .. 64", inputs[0].rank = 1000000);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "no shape", inputs[0].shape = NULL);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "60 bytes", inputs[0].shape = wide);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "dimension 1", (inputs[0].shape = wide, inputs[0].bytes = 60, inputs[0].data = (float[15]){0}));
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "negative or too large", inputs[0].shape = negative);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "negative or too large", inputs[0].shape = huge);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "47 bytes", inputs[0].bytes -= 1);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "input 'x'", inputs[0].data = NULL);
  REFUSED_INPUT(TENON_CODE_BAD_USAGE, "struct_size", inputs[0].struct_size = 0);
  REFUSED_INPUT(TENON_CODE_BAD_USAGE, "struct_size", inputs[0].struct_size = 8);
  REFUSED_INPUT(TENON_CODE_BAD_USAGE, "struct_size", inputs[0].struct_size = SIZE_MAX);
  REFUSED_INPUT(TENON_CODE_BAD_USAGE, "struct_size", inputs[1].struct_size = 0);
  REFUSED_INPUT(TENON_CODE_BAD_INPUT, "input 'k'", (inputs[1] = (tenon_array){.struct_size = sizeof inputs[1]}));
  return failures;
}

#define REFUSED_OUTPUT(code, words, change)                                                               \
  do {                                                                                                    \
    tenon_array outputs[1] = {array_of("product", TENON_DTYPE_F32, 2, x_shape, product, sizeof product)}; \
    change;                                                                                               \
    CHECK_FAILS(code, words, tenon_context_run(context, NULL, inputs, 2, outputs, 1, NULL, &error));      \
  } while (0)

static int check_refused_outputs(tenon_context* context) {
  int failures = 0;
  float product[ROWS * 4];
  const int64_t transposed[] = {4, ROWS};
  const tenon_array inputs[2] = {input_x(), input_k()};
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "did you mean 'product'", outputs[0].name = "produce");
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "another element type", outputs[0].dtype = TENON_DTYPE_I32);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "element type", outputs[0].dtype = 400);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "another rank", outputs[0].rank = 1);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "another shape", outputs[0].shape = transposed);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "byte size", outputs[0].bytes -= 4);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "missing", outputs[0].data = NULL);
  REFUSED_OUTPUT(TENON_CODE_BAD_USAGE, "overlaps", outputs[0].data = x);
  REFUSED_OUTPUT(TENON_CODE_BAD_INPUT, "44", (outputs[0].shape = NULL, outputs[0].bytes = 44));
  REFUSED_OUTPUT(TENON_CODE_BAD_USAGE, "struct_size", outputs[0].struct_size = 1);
  CHECK_OK(tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error));
  return failures;
}

int test_refused_runs(const char* path) {
  int failures = 0;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  CHECK_OK(tenon_engine_load(path, NULL, &engine, &error));
  CHECK_OK(tenon_context_create(engine, NULL, &context, &error));
  failures += check_refused_inputs(context) + check_refused_outputs(context);
  const tenon_array inputs[3] = {input_x(), input_k(), {sizeof inputs[0], NULL, TENON_DTYPE_F32, 0, NULL, x, 4}};
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_run(NULL, NULL, inputs, 2, NULL, 0, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_run(context, NULL, NULL, 2, NULL, 0, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_run(context, NULL, inputs, 2, NULL, 1, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "input 'k'", tenon_context_run(context, NULL, inputs, 1, NULL, 0, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_INPUT, "2 at most", tenon_context_run(context, NULL, inputs, 3, NULL, 0, NULL, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "no such entry", tenon_context_run(context, "decode", inputs, 2, NULL, 0, NULL, &error));
  CHECK(tenon_context_run(context, "decode", inputs, 2, NULL, 0, NULL, NULL) == TENON_CODE_BAD_USAGE);
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_create(NULL, NULL, &context, &error));
  CHECK_FAILS(TENON_CODE_BAD_USAGE, "null pointer", tenon_context_create(engine, NULL, NULL, &error));
  tenon_context_free(context);
  tenon_context_free(NULL);
  tenon_engine_free(engine);
  return failures;
}

int32_t load_and_run(const char* path) {
  tenon_error* error = NULL;
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  const tenon_array inputs[2] = {input_x(), input_k()};
  int32_t code = tenon_engine_load(path, NULL, &engine, &error);
  if (code == TENON_CODE_OK) code = tenon_context_create(engine, NULL, &context, &error);
  if (code == TENON_CODE_OK) code = tenon_context_run(context, NULL, inputs, 2, NULL, 0, NULL, &error);
  if (tenon_error_code(error) != code || (code != TENON_CODE_OK && tenon_error_text(error)[0] == '\0')) code = -1;
  tenon_error_free(error);
  tenon_context_free(context);
  tenon_engine_free(engine);
  return code;
}
