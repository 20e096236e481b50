/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface that loads and runs engines. C11 and C++11; in libtenon and in libtenon_run, which has no compiler inside.
 *
 * Errors. A function that can fail returns a tenon_code, TENON_CODE_OK (0) where it succeeded, and takes `error`, which may be null: on
 * failure *error receives what went wrong, for tenon_error_free(); on success it becomes null. Nothing is thrown, printed or aborted.
 * What a function returns through a pointer is written on success alone.
 *
 * Structs. Each begins with its size in bytes: the caller sets struct_size = sizeof(the struct) in those that it fills, the library in
 * those that it returns. Fields are only added at the end; those that a struct is too short for are taken for 0, and 0 is the default of
 * all options. A field that the library is too old for is an error (not_supported) unless it is 0.
 *
 * Threads. Any number of threads may use one engine, thread pool or stop token at once; a context belongs to one thread at a time. Objects
 * may be freed in any order: a context keeps its engine. To free null does nothing.
 *
 * Texts are UTF-8 and end with 0. Values that are sequences, optionals or maps are not supported yet: C++ and Python run such models.
 */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TENON_C_API __attribute__((visibility("default")))
#else
#define TENON_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. 1: the first. */
#define TENON_RUNTIME_VERSION 1

/* That of the header that the library was built with. */
TENON_C_API uint32_t tenon_runtime_version(void);
/* The library's name and release, "tenon 0.1.0". */
TENON_C_API const char* tenon_release(void);

/* ---- Errors -------------------------------------------------------------------------------------------------------------------------- */

/* What went wrong; the hundreds digit groups codes by who has to act. The values are those of tenon::Code. */
typedef enum tenon_code {
  TENON_CODE_OK = 0,
  TENON_CODE_BAD_FILE = 100,       /* not the format that it claims to be, or damaged */
  TENON_CODE_FILE_MISSING = 101,   /* cannot be opened */
  TENON_CODE_FILE_UNSAFE = 102,    /* a link, or not a regular file */
  TENON_CODE_LIMIT_EXCEEDED = 103, /* a stated limit on bytes, rank, nesting, time */
  TENON_CODE_SIZE_OVERFLOW = 104,  /* a size does not fit 63 bits */
  TENON_CODE_BAD_GRAPH = 110,
  TENON_CODE_BAD_ATTRIBUTE = 111,
  TENON_CODE_SHAPE_MISMATCH = 112,
  TENON_CODE_DTYPE_MISMATCH = 113,
  TENON_CODE_RANK_MISMATCH = 114,
  TENON_CODE_AXIS_OUT_OF_RANGE = 115,
  TENON_CODE_INDEX_OUT_OF_RANGE = 116,
  TENON_CODE_BAD_INPUT = 120, /* an array of a run has a wrong name, dtype or shape */
  TENON_CODE_BAD_RULE = 130,
  TENON_CODE_WRITE_FAILED = 140, /* disk full, no permission */
  TENON_CODE_OUT_OF_MEMORY = 150,
  TENON_CODE_WRONG_TARGET = 151, /* engine made for another CPU, format or version */
  TENON_CODE_CANCELLED = 160,
  TENON_CODE_DEADLINE = 161,
  TENON_CODE_DEVICE_FAILED = 170,
  TENON_CODE_BAD_USAGE = 200, /* a call that the interface does not allow: a null pointer, a name that does not exist */
  TENON_CODE_NOT_SUPPORTED = 300,
  TENON_CODE_INTERNAL = 700 /* a bug of Tenon's */
} tenon_code;

/* "bad_input", ...; "unknown" for other numbers. */
TENON_C_API const char* tenon_code_name(int32_t code);

typedef struct tenon_error tenon_error;

/* Parts of an error, valid until it is freed. Never null; all but `what` may be empty. Of a null error: TENON_CODE_OK and "". */
TENON_C_API int32_t tenon_error_code(const tenon_error* error);
TENON_C_API const char* tenon_error_place(const tenon_error* error); /* node, value, file and offset, or argument */
TENON_C_API const char* tenon_error_what(const tenon_error* error);
TENON_C_API const char* tenon_error_expected(const tenon_error* error);
TENON_C_API const char* tenon_error_found(const tenon_error* error);
TENON_C_API const char* tenon_error_advice(const tenon_error* error);
/* All of it, in a few lines. */
TENON_C_API const char* tenon_error_text(const tenon_error* error);
TENON_C_API void tenon_error_free(tenon_error* error);

/* ---- Arrays -------------------------------------------------------------------------------------------------------------------------- */

/* Element types, numbered as in ONNX. */
typedef enum tenon_element_type {
  TENON_DTYPE_NONE = 0,
  TENON_DTYPE_F32 = 1,
  TENON_DTYPE_U8 = 2,
  TENON_DTYPE_I8 = 3,
  TENON_DTYPE_U16 = 4,
  TENON_DTYPE_I16 = 5,
  TENON_DTYPE_I32 = 6,
  TENON_DTYPE_I64 = 7,
  TENON_DTYPE_STRING = 8, /* elements are tenon_string */
  TENON_DTYPE_BOOL = 9,   /* a byte: 0 or 1 */
  TENON_DTYPE_F16 = 10,
  TENON_DTYPE_F64 = 11,
  TENON_DTYPE_U32 = 12,
  TENON_DTYPE_U64 = 13,
  TENON_DTYPE_C64 = 14,
  TENON_DTYPE_C128 = 15,
  TENON_DTYPE_BF16 = 16,
  TENON_DTYPE_F8E4M3FN = 17,
  TENON_DTYPE_F8E4M3FNUZ = 18,
  TENON_DTYPE_F8E5M2 = 19,
  TENON_DTYPE_F8E5M2FNUZ = 20,
  TENON_DTYPE_U4 = 21, /* two a byte, the lower half first; as I4 and F4E2M1 */
  TENON_DTYPE_I4 = 22,
  TENON_DTYPE_F4E2M1 = 23,
  TENON_DTYPE_F8E8M0 = 24,
  TENON_DTYPE_U2 = 25, /* four a byte; as I2 */
  TENON_DTYPE_I2 = 26
} tenon_element_type;

/* "f32", "i64", "bool", ...; "unknown" for other numbers. */
TENON_C_API const char* tenon_dtype_name(int32_t dtype);

/* Most dimensions of an array. */
#define TENON_ARRAY_MAX_RANK 64

/* An element of a string array. */
typedef struct tenon_string {
  const char* data; /* not ended by 0 */
  size_t size;      /* in bytes */
} tenon_string;

/* A dense, row-major tensor in memory of the caller's or the library's. The array itself is read during the call alone. */
typedef struct tenon_array {
  size_t struct_size;
  const char* name; /* of the input or output; null: the one at the array's position in the list */
  int32_t dtype;    /* tenon_element_type */
  int32_t rank;
  const int64_t* shape; /* `rank` sizes */
  void* data;           /* of inputs only read */
  size_t bytes;         /* that are at `data`: those of dtype and shape */
} tenon_array;

/* ---- Engines ------------------------------------------------------------------------------------------------------------------------- */

/* What a value is. */
typedef enum tenon_value_kind {
  TENON_KIND_TENSOR = 0,
  TENON_KIND_SEQUENCE = 1,
  TENON_KIND_OPTIONAL = 2,
  TENON_KIND_OPTIONAL_SEQUENCE = 3,
  TENON_KIND_MAP = 4,
  TENON_KIND_SEQUENCE_OF_MAPS = 5
} tenon_value_kind;

/* An input or output. */
typedef struct tenon_value_info {
  size_t struct_size;
  const char* name;
  int32_t dtype;
  int32_t kind;                  /* tenon_value_kind */
  int32_t rank;                  /* -1: any, of the tensors in a container */
  int32_t has_default;           /* 1: an input that may be left out; then it has the value that the model gives it */
  const char* const* dimensions; /* `rank` texts: a number, or what the model calls the size ("batch", "2*seq") */
  const int64_t* lower;          /* the bounds of each size: equal where it is fixed */
  const int64_t* upper;
} tenon_value_info;

/* A program that callers run by name. */
typedef struct tenon_entry_info {
  size_t struct_size;
  const char* name;
  size_t input_count;
  const tenon_value_info* const* inputs; /* those with a default last */
  size_t output_count;
  const tenon_value_info* const* outputs;
} tenon_entry_info;

/* A value that lasts between the runs of a context, which all entries read and replace; no input and no output. */
typedef struct tenon_state_info {
  size_t struct_size;
  const char* name;
  int32_t dtype;
  int32_t rank;
  const int64_t* shape; /* on the growing axis the capacity */
  int32_t growing_axis; /* along which runs append: its size is the state's length, 0 at first. -1: the state is replaced as a whole */
} tenon_state_info;

typedef struct tenon_engine_info {
  size_t struct_size;
  size_t entry_count;
  const tenon_entry_info* const* entries; /* the first is what runs where none is named */
  size_t state_count;
  const tenon_state_info* const* states;
  uint64_t weight_bytes, code_bytes;
  const char* missing_plugins; /* those that are not there, so that definitions run in their place; "": none */
} tenon_engine_info;

typedef struct tenon_load_options {
  size_t struct_size;
  int32_t verify;             /* 1: check every byte of the file, weights and padding included */
  int32_t plugin_any_build;   /* 1: take other builds of plugins than the engine was built with */
  int32_t embedded_plugins;   /* 1: take the libraries inside the engine file, which are code of whoever made it */
  int32_t isolate_plugins;    /* 1: libraries of plugins run in processes of their own */
  size_t plugin_count;        /* libraries of plugins (tenon/plugin.h), which stay open until the process ends */
  const char* const* plugins; /* their paths */
  int64_t plugin_timeout_ms;  /* isolated: what one call may take; 0: 300 s */
  uint64_t plugin_memory;     /* isolated: bytes that a library's process may take; 0: no limit */
} tenon_load_options;

/* A compiled model: immutable. */
typedef struct tenon_engine tenon_engine;

/* Maps an engine file. options: null for the defaults. Errors: file_missing, bad_file, wrong_target, not_supported. */
TENON_C_API int32_t tenon_engine_load(const char* path, const tenon_load_options* options, tenon_engine** engine, tenon_error** error);
/* The same of the bytes of such a file, which are written to a temporary file. */
TENON_C_API int32_t tenon_engine_load_bytes(const void* bytes, size_t size, const tenon_load_options* options, tenon_engine** engine,
                                            tenon_error** error);
TENON_C_API void tenon_engine_free(tenon_engine* engine);
/* What it takes, gives and keeps; valid until the engine is freed. Null for null. */
TENON_C_API const tenon_engine_info* tenon_engine_describe(const tenon_engine* engine);

/* ---- What runs take ------------------------------------------------------------------------------------------------------------------ */

/* Threads that compute runs, for those who share the cores out on purpose. Runs on one pool are queued. */
typedef struct tenon_thread_pool tenon_thread_pool;

/* threads: the calling one among them; 0: one for each CPU. cpus: their numbers; none: the system chooses. Errors: bad_usage. */
TENON_C_API int32_t tenon_thread_pool_create(int32_t threads, const int32_t* cpus, size_t cpu_count, tenon_thread_pool** pool,
                                             tenon_error** error);
TENON_C_API void tenon_thread_pool_free(tenon_thread_pool* pool);

/* Ends runs early, from any thread. */
typedef struct tenon_stop_token tenon_stop_token;

TENON_C_API int32_t tenon_stop_token_create(tenon_stop_token** token, tenon_error** error);
TENON_C_API void tenon_stop_token_stop(tenon_stop_token* token);
TENON_C_API void tenon_stop_token_reset(tenon_stop_token* token);
TENON_C_API void tenon_stop_token_free(tenon_stop_token* token);

typedef struct tenon_run_options {
  size_t struct_size;
  int32_t threads;              /* at most so many; 0: the context's */
  int32_t check_memory;         /* 1: check after each step that nothing was written outside of buffers; costs memory and time */
  int64_t timeout_ns;           /* from the call on; 0: none. Else TENON_CODE_DEADLINE */
  const tenon_stop_token* stop; /* null: none. Else TENON_CODE_CANCELLED */
  int32_t has_seed;             /* 1: equal seeds give equal random numbers; 0: each run draws others */
  uint64_t seed;
} tenon_run_options;

typedef struct tenon_context_options {
  size_t struct_size;
  int32_t threads;               /* of its runs, at most; 0: all that the pool has */
  const tenon_thread_pool* pool; /* null: the process's own, one thread for each CPU */
} tenon_context_options;

/* ---- Contexts ------------------------------------------------------------------------------------------------------------------------ */

/* A running instance of an engine; keeps its states. */
typedef struct tenon_context tenon_context;

/* options: null for the defaults. */
TENON_C_API int32_t tenon_context_create(const tenon_engine* engine, const tenon_context_options* options, tenon_context** context,
                                         tenon_error** error);
TENON_C_API void tenon_context_free(tenon_context* context);

/* Runs the entry of that name; null or "": the first.
 *
 * inputs: `input_count` structs of one size, each with a name, or all in the entry's order. They are read where they lie (strings are
 * copied). An input with a default may be left out, or be an array of dtype 0.
 * outputs: none (null and 0), or arrays, named as the inputs, whose memory receives results; one without data, or none, leaves the result
 * in the context. `shape` is that of the result; null where it is not known: then the memory is `bytes` large, which the result must fit
 * into, and tenon_context_result() has its shape. Memory that receives results overlaps no input and no other such memory. Its contents are
 * undefined where the run fails.
 *
 * Errors: bad_input (a name, dtype, rank, shape or size), bad_usage, not_supported, out_of_memory, cancelled, deadline. */
TENON_C_API int32_t tenon_context_run(tenon_context* context, const char* entry, const tenon_array* inputs, size_t input_count,
                                      const tenon_array* outputs, size_t output_count, const tenon_run_options* options,
                                      tenon_error** error);

/* The outputs of the last run that succeeded: 0 before, and after one that failed. */
TENON_C_API size_t tenon_context_result_count(const tenon_context* context);
/* Output `index` of the last run; it, its shape and its data are valid until the next run, or in the caller's memory. result->struct_size
 * is set by the caller. Errors: index_out_of_range. */
TENON_C_API int32_t tenon_context_result_at(const tenon_context* context, size_t index, tenon_array* result, tenon_error** error);
/* The same by its name. Errors: bad_usage, naming the nearest. */
TENON_C_API int32_t tenon_context_result(const tenon_context* context, const char* name, tenon_array* result, tenon_error** error);
/* Bytes of intermediate values in the last run; 0 for null. */
TENON_C_API uint64_t tenon_context_arena_bytes(const tenon_context* context);

/* ---- States -------------------------------------------------------------------------------------------------------------------------- */

/* They begin at their initial values (those that grow: empty) in memory of the context; runs that succeed replace them. A run that fails
 * leaves a state as it was, but for one that it was writing in place: runs refuse that (bad_input) until it is reset, restored or bound.
 * Where there is no state of a name: bad_usage, naming the nearest. */

/* Keeps the state in memory of the caller's, of its dtype and whole capacity, until it is unbound or the context is freed; what is in it is
 * the state's value. length: of a growing state, else 0. Errors: bad_input (another type or size, elements that are not aligned, a length
 * over the capacity); bad_usage (bound already, or memory that another state has). */
TENON_C_API int32_t tenon_context_bind_state(tenon_context* context, const char* name, const tenon_array* memory, int64_t length,
                                             tenon_error** error);
/* Into the context again, at its initial value. */
TENON_C_API int32_t tenon_context_unbind_state(tenon_context* context, const char* name, tenon_error** error);
/* To its initial value; null: all states. */
TENON_C_API int32_t tenon_context_reset(tenon_context* context, const char* name, tenon_error** error);
/* How much of a growing state there is. Errors: bad_usage for one that does not grow. */
TENON_C_API int32_t tenon_context_length(const tenon_context* context, const char* name, int64_t* length, tenon_error** error);
/* Makes a growing state shorter. Errors: bad_input (longer than it is), bad_usage. */
TENON_C_API int32_t tenon_context_set_length(tenon_context* context, const char* name, int64_t length, tenon_error** error);
/* A copy of what the state holds, valid until the next call of this function for the context. Errors: out_of_memory; bad_input where a
 * failed run has left part of a new value. */
TENON_C_API int32_t tenon_context_state(tenon_context* context, const char* name, tenon_array* value, tenon_error** error);
/* A context of the same engine and options whose states have the same values, in memory of its own. Errors: as tenon_context_state(). */
TENON_C_API int32_t tenon_context_fork(const tenon_context* context, tenon_context** fork, tenon_error** error);
/* Writes all states to a file, atomically. Errors: as tenon_context_state(); write_failed. */
TENON_C_API int32_t tenon_context_save(const tenon_context* context, const char* path, tenon_error** error);
/* The same as bytes, for tenon_bytes_free(). */
TENON_C_API int32_t tenon_context_save_bytes(const tenon_context* context, void** bytes, size_t* size, tenon_error** error);
TENON_C_API void tenon_bytes_free(void* bytes);
/* Sets all states to what was saved. Changes nothing where it fails. Errors: file_missing; bad_file (damaged, or no states); bad_input (of
 * another engine); out_of_memory. */
TENON_C_API int32_t tenon_context_restore(tenon_context* context, const char* path, tenon_error** error);
TENON_C_API int32_t tenon_context_restore_bytes(tenon_context* context, const void* bytes, size_t size, tenon_error** error);

#ifdef __cplusplus
}
#endif

#endif
