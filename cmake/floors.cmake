# SPDX-License-Identifier: Apache-2.0
# Reading headers is most of the work of compiling a file here, so they are read once. Of the standard library and fmt:
set(TENON_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstring> <functional> <memory> <mutex> <optional> <set> <span> <string> <unordered_map>
  <unordered_set> <vector> <fmt/format.h> <fmt/ranges.h>)
# ... and what nearly every file of the compile side includes beside them.
set(TENON_GRAPH_HEADERS ${TENON_COMMON_HEADERS} ${CMAKE_SOURCE_DIR}/src/ir/builder.h ${CMAKE_SOURCE_DIR}/src/ir/graph.h)
# ... of files that say what ops are and compute, and of rules.
set(TENON_OP_HEADERS ${TENON_GRAPH_HEADERS} ${CMAKE_SOURCE_DIR}/src/ops/op.h ${CMAKE_SOURCE_DIR}/src/ops/loop.h ${CMAKE_SOURCE_DIR}/src/ops/form_helpers.h
  ${CMAKE_SOURCE_DIR}/src/ops/reference_helpers.h)
set(TENON_RULE_HEADERS ${TENON_GRAPH_HEADERS} ${CMAKE_SOURCE_DIR}/src/ops/op.h ${CMAKE_SOURCE_DIR}/src/rewrite/rule.h ${CMAKE_SOURCE_DIR}/src/rewrite/match.h
  ${CMAKE_SOURCE_DIR}/src/rewrite/rewriter.h)

# tenon_floor(NAME SOURCES DIR... DEPENDS TARGET... PRECOMPILE HEADER... | HEADERS FLOOR): the static library tenon_NAME of all .cpp below the
# folders (not below a nested `device` or `llvm` folder), compiled behind these precompiled headers, or those of another floor. A folder
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
  list(FILTER FILES EXCLUDE REGEX "src/cli/main.cpp$")
  list(SORT FILES)
  if(FILES)
    add_library(tenon_${NAME} STATIC ${FILES})
    target_include_directories(tenon_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
    target_link_libraries(tenon_${NAME} PUBLIC ${ARG_DEPENDS})
    target_compile_options(tenon_${NAME} PRIVATE -Wall -Wextra -Werror)
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

# tenon_list(NAME DIRS PREFIX TYPE FILE): writes generated/FILE with one sorted line `TENON_ENTRY(x)` a file DIR/x.cpp of each folder;
# the registry includes it twice (declare, collect). The folder listing is the registration; a file name stands in one folder only.
function(tenon_list NAME DIRS PREFIX TYPE FILE)
  set(FOUND)
  foreach(DIR ${DIRS})
    file(GLOB IN_DIR CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/${DIR} ${CMAKE_SOURCE_DIR}/${DIR}/*.cpp)
    list(APPEND FOUND ${IN_DIR})
  endforeach()
  list(SORT FOUND)
  set(TEXT "")
  foreach(F ${FOUND})
    string(REGEX REPLACE "\\.cpp$" "" IDENT ${F})
    string(APPEND TEXT "TENON_ENTRY(${IDENT})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${FILE} CONTENT "${TEXT}")
endfunction()

# tenon_llvm(NAME DEPENDS...): the part of floor NAME that knows LLVM, src/NAME/llvm. Nothing else sees LLVM's headers.
function(tenon_llvm NAME)
  find_program(LLVM_CONFIG llvm-config-22 REQUIRED)
  execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE INCLUDES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE LIBRARIES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${NAME}/llvm/*.cpp)
  add_library(tenon_${NAME}_llvm STATIC ${FILES})
  target_include_directories(tenon_${NAME}_llvm PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(tenon_${NAME}_llvm SYSTEM PRIVATE ${INCLUDES})
  target_compile_options(tenon_${NAME}_llvm PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter)
  target_precompile_headers(tenon_${NAME}_llvm PRIVATE ${TENON_COMMON_HEADERS} <llvm/IR/IRBuilder.h> <llvm/IR/Intrinsics.h> <llvm/IR/Module.h>)
  target_link_directories(tenon_${NAME}_llvm PUBLIC ${LIBRARIES})
  target_link_libraries(tenon_${NAME}_llvm PUBLIC ${ARGN} LLVM-22)
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
