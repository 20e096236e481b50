# SPDX-License-Identifier: Apache-2.0
# Reading headers is most of the work of compiling a file here, so they are read once. Of the standard library and fmt:
set(TENON_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <functional> <memory> <mutex> <optional> <set> <span> <string> <unordered_map>
  <unordered_set> <vector> <fmt/format.h> <fmt/ranges.h>)
# ... and what nearly every file of the compile side includes in addition.
set(TENON_GRAPH_HEADERS ${TENON_COMMON_HEADERS} ${CMAKE_SOURCE_DIR}/src/ir/builder.h ${CMAKE_SOURCE_DIR}/src/ir/graph.h)
# ... of files that say what ops are and compute, and of rules.
set(TENON_OP_HEADERS ${TENON_GRAPH_HEADERS} ${CMAKE_SOURCE_DIR}/src/ops/core/op.h ${CMAKE_SOURCE_DIR}/src/ops/core/loop.h ${CMAKE_SOURCE_DIR}/src/ops/form/loops.h
  ${CMAKE_SOURCE_DIR}/src/ops/infer/elementwise.h ${CMAKE_SOURCE_DIR}/src/ops/reference/map.h)
set(TENON_RULE_HEADERS ${TENON_GRAPH_HEADERS} ${CMAKE_SOURCE_DIR}/src/ops/core/op.h ${CMAKE_SOURCE_DIR}/src/rewrite/rule.h ${CMAKE_SOURCE_DIR}/src/rewrite/match.h
  ${CMAKE_SOURCE_DIR}/src/rewrite/rewriter.h)

# tenon_floor(NAME SOURCES DIR... DEPENDS TARGET... PRECOMPILE HEADER... | HEADERS FLOOR): the static library tenon_NAME of all .cpp below the
# folders (not below a nested `device` or `llvm` folder), compiled with these precompiled headers, or those of another floor. A folder
# that is still empty gives an interface library.
function(tenon_floor NAME)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;DEPENDS;PRECOMPILE" ${ARGN})
  set(FILES)
  foreach(DIR ${ARG_SOURCES})
    file(GLOB_RECURSE FOUND CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${DIR}/*.cpp)
    if(NOT DIR MATCHES "/device$")
      list(FILTER FOUND EXCLUDE REGEX "/device/|/llvm/")
    endif()
    list(APPEND FILES ${FOUND})
  endforeach()
  list(FILTER FILES EXCLUDE REGEX "/main.cpp$")
  list(SORT FILES)
  if(FILES)
    add_library(tenon_${NAME} STATIC ${FILES})
    target_include_directories(tenon_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
    target_link_libraries(tenon_${NAME} PUBLIC ${ARG_DEPENDS})
    target_compile_options(tenon_${NAME} PRIVATE -Wall -Wextra -Werror)
    if(NAME MATCHES "^(base|engine|files|llm|plugin|runtime|.*_device)$")  # run-side libraries leave out functions that nothing there calls
      target_compile_options(tenon_${NAME} PRIVATE -ffunction-sections -fdata-sections)
    endif()
    set_target_properties(tenon_${NAME} PROPERTIES UNITY_BUILD ON)
    if(ARG_PRECOMPILE)
      target_precompile_headers(tenon_${NAME} PRIVATE ${ARG_PRECOMPILE})
    else()
      target_precompile_headers(tenon_${NAME} REUSE_FROM tenon_${ARG_HEADERS})
    endif()
  else()
    add_library(tenon_${NAME} INTERFACE)
    target_include_directories(tenon_${NAME} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(tenon_${NAME} INTERFACE ${ARG_DEPENDS})
  endif()
endfunction()

# tenon_list(DIR MACRO FILE [FOLDERS]): writes generated/FILE with one line `TENON_ENTRY(x)` for each file x.cpp below DIR in which
# `MACRO(...` is at the start of a line, sorted by x; the registry includes it twice (declare, collect). The folder listing is the
# registration; a file name occurs in one folder only. With FOLDERS the line is `TENON_ENTRY(folder, x, "folder/.../x.cpp")`, where folder is
# the first one below DIR, and a file name occurs once below it.
function(tenon_list DIR MACRO FILE)
  file(GLOB_RECURSE FOUND CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${DIR} ${CMAKE_SOURCE_DIR}/${DIR}/*.cpp)
  set(ENTRIES)
  foreach(F ${FOUND})
    file(STRINGS ${CMAKE_SOURCE_DIR}/${DIR}/${F} DEFINES REGEX "^${MACRO}\\(" LIMIT_COUNT 1)
    if(DEFINES)
      string(REGEX REPLACE "/.*" "" FOLDER ${F})
      get_filename_component(NAME ${F} NAME_WE)
      list(APPEND ENTRIES "${NAME}.${FOLDER}.${F}")
    endif()
  endforeach()
  list(SORT ENTRIES)
  set(TEXT "")
  foreach(ENTRY ${ENTRIES})
    if("FOLDERS" IN_LIST ARGN)
      string(REGEX REPLACE "([^.]*)\\.([^.]*)\\.(.*)" "TENON_ENTRY(\\2, \\1, \"\\3\")\n" LINE ${ENTRY})
    else()
      string(REGEX REPLACE "([^.]*)\\..*" "TENON_ENTRY(\\1)\n" LINE ${ENTRY})
    endif()
    string(APPEND TEXT "${LINE}")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${FILE} CONTENT "${TEXT}")
endfunction()

# tenon_backends(DIR): each folder of DIR is a backend, tenon_NAME_backend, and its `device` folder the run side of it, tenon_NAME_device. Sets
# TENON_BACKENDS and TENON_DEVICES to what was found; the reference device, which alone needs the ops, is not among the latter.
macro(tenon_backends DIR)
  file(GLOB FOLDERS CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${DIR} ${CMAKE_SOURCE_DIR}/${DIR}/*)
  list(SORT FOLDERS)
  foreach(NAME ${FOLDERS})
    if(NAME STREQUAL "reference")
      tenon_floor(reference_device SOURCES ${DIR}/reference/device DEPENDS tenon_runtime tenon_ops HEADERS ops)
    else()
      tenon_floor(${NAME}_device SOURCES ${DIR}/${NAME}/device DEPENDS tenon_runtime HEADERS base)
      list(APPEND TENON_DEVICES tenon_${NAME}_device)
    endif()
    tenon_floor(${NAME}_backend SOURCES ${DIR}/${NAME} DEPENDS tenon_program tenon_import tenon_${NAME}_device HEADERS ir)
    list(APPEND TENON_BACKENDS tenon_${NAME}_backend)
  endforeach()
endmacro()

# tenon_llvm(NAME DEPENDS...): the part of floor NAME that uses LLVM, src/NAME/llvm. Nothing else includes LLVM's headers. A target with the
# property TENON_OWN_LLVM has what it needs of LLVM in itself (40 MB): the shared library is 200,000 relocations, 11 ms of each process's start.
function(tenon_llvm NAME)
  find_program(LLVM_CONFIG llvm-config-22 REQUIRED)
  execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE INCLUDES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LIBRARIES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libs x86codegen object OUTPUT_VARIABLE PARTS OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(PARTS)
  find_library(ZSTD NAMES zstd libzstd.so.1 REQUIRED)  # of object files with compressed sections, which nothing here writes
  set(OWN "$<BOOL:$<TARGET_PROPERTY:TENON_OWN_LLVM>>")
  file(GLOB_RECURSE FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/llvm/*.cpp)
  add_library(tenon_${NAME}_llvm STATIC ${FILES})
  target_include_directories(tenon_${NAME}_llvm PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(tenon_${NAME}_llvm SYSTEM PRIVATE ${INCLUDES})
  target_compile_options(tenon_${NAME}_llvm PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter)
  target_precompile_headers(tenon_${NAME}_llvm PRIVATE ${TENON_COMMON_HEADERS} <llvm/IR/IRBuilder.h> <llvm/IR/Intrinsics.h> <llvm/IR/Module.h>)
  target_link_directories(tenon_${NAME}_llvm PUBLIC ${LIBRARIES})
  target_link_libraries(tenon_${NAME}_llvm PUBLIC ${ARGN} "$<IF:${OWN},${PARTS};${ZSTD};z,LLVM-22>")
  target_link_libraries(tenon_${NAME} PUBLIC tenon_${NAME}_llvm)
endfunction()

# tenon_texts(DIR FILE): generated/FILE with one string constant for each file DIR/x.y, named x_y. Read anew when one of them changes.
function(tenon_texts DIR FILE)
  file(GLOB FOUND CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${DIR}/*)
  list(SORT FOUND)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FOUND})
  set(OUT ${CMAKE_BINARY_DIR}/generated/${FILE})
  file(WRITE ${OUT}.new "")
  foreach(TEXT_FILE ${FOUND})
    get_filename_component(IDENT ${TEXT_FILE} NAME)
    string(MAKE_C_IDENTIFIER ${IDENT} IDENT)
    file(READ ${TEXT_FILE} TEXT)
    file(APPEND ${OUT}.new "inline constexpr std::string_view ${IDENT} = R\"TENON(${TEXT})TENON\";\n")
  endforeach()
  file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
endfunction()

# tenon_options(TABLE FILE): what follows from the table of compile options: generated/FILE, and python/tenon/_options.pyi in the build folder.
# Written anew when the table or the script changes.
function(tenon_options TABLE FILE)
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(SCRIPT ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tools/make_options.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${TABLE} ${SCRIPT})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${SCRIPT} ${CMAKE_SOURCE_DIR}/${TABLE} ${CMAKE_BINARY_DIR}/generated/${FILE}
    ${CMAKE_BINARY_DIR}/python/tenon/_options.pyi COMMAND_ERROR_IS_FATAL ANY)
endfunction()
