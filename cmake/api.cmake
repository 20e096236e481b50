# SPDX-License-Identifier: Apache-2.0
# The libraries of tenon/tenon.h and tenon/runtime.h: libtenon (compiles and runs), libtenon_run (runs), and libtenon_llm (runs, and has
# tenon/llm.h). They export these interfaces and nothing else.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# src/api is compiled once, for these libraries and for the Python extensions: tenon_api_objects_common with _full or with _run. The libraries
# have _c in addition, the C interface.
function(tenon_api_objects NAME FOLDER)
  file(GLOB FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${FOLDER}/*.cpp)
  list(SORT FILES)
  add_library(tenon_api_objects_${NAME} OBJECT ${FILES})
  target_compile_options(tenon_api_objects_${NAME} PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(tenon_api_objects_${NAME} PRIVATE ${ARGN})
  target_precompile_headers(tenon_api_objects_${NAME} REUSE_FROM tenon_base)
endfunction()
tenon_api_objects(common src/api tenon_runtime)
tenon_api_objects(c src/api/c tenon_runtime)
# Small: checks, and calls of the others. The headers are compiled for speed.
target_compile_options(tenon_api_objects_c PRIVATE -Os -ffunction-sections -fdata-sections)
set_target_properties(tenon_api_objects_c PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
tenon_api_objects(full src/api/full tenon_compiler)
tenon_api_objects(run src/api/run tenon_runtime)
tenon_api_objects(llm src/api/llm tenon_llm)

# FOLDERS: those of src/api that it has besides the common ones.
function(tenon_shared TARGET OUTPUT EXPORTED FOLDERS)
  add_library(${TARGET} SHARED $<TARGET_OBJECTS:tenon_api_objects_common> $<TARGET_OBJECTS:tenon_api_objects_c>)
  foreach(FOLDER ${FOLDERS})
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:tenon_api_objects_${FOLDER}>)
  endforeach()
  set_target_properties(${TARGET} PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(${TARGET} INTERFACE cxx_std_23)
  target_include_directories(${TARGET} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
  target_link_libraries(${TARGET} PRIVATE ${ARGN})
  target_link_options(${TARGET} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports.map -Wl,--gc-sections -Wl,--as-needed)
  set_target_properties(${TARGET} PROPERTIES OUTPUT_NAME ${OUTPUT} EXPORT_NAME ${EXPORTED} VERSION ${PROJECT_VERSION} SOVERSION 0
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exports.map LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
endfunction()

tenon_shared(tenon_api tenon tenon full tenon_compiler)
tenon_shared(tenon_run tenon_run run run tenon_runtime ${TENON_DEVICES})
tenon_shared(tenon_llm_api tenon_llm llm "run;llm" tenon_llm ${TENON_DEVICES})
add_dependencies(tenon_api tenon_plugin_worker)
add_dependencies(tenon_run tenon_plugin_worker)
add_dependencies(tenon_llm_api tenon_plugin_worker)

# The command line, libraries, header and package: `cmake --install build --prefix DIR --component tenon`.
if(NOT SKBUILD)
  install(TARGETS tenon tenon_plugin_worker COMPONENT tenon)
  # The manual page and what shells complete by follow from the program's own parser; other engines are started by a script.
  set(PAGES ${CMAKE_BINARY_DIR}/generated/command_line)
  add_custom_command(
    TARGET tenon POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PAGES}
    COMMAND $<TARGET_FILE:tenon> man > ${PAGES}/tenon.1
    COMMAND $<TARGET_FILE:tenon> completion bash > ${PAGES}/tenon.bash
    COMMAND $<TARGET_FILE:tenon> completion zsh > ${PAGES}/_tenon
    COMMAND $<TARGET_FILE:tenon> completion fish > ${PAGES}/tenon.fish
    VERBATIM)
  install(FILES ${PAGES}/tenon.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tenon)
  install(FILES ${PAGES}/tenon.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tenon COMPONENT tenon)
  install(FILES ${PAGES}/_tenon DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tenon)
  install(FILES ${PAGES}/tenon.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tenon)
  install(FILES ${CMAKE_SOURCE_DIR}/tools/bench/peer_bench.py ${CMAKE_SOURCE_DIR}/tools/bench/llama_peer.py ${CMAKE_SOURCE_DIR}/tools/bench/torch_peer.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon COMPONENT tenon)
  install(TARGETS tenon_api tenon_run tenon_llm_api EXPORT tenon COMPONENT tenon)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT tenon)
  install(EXPORT tenon NAMESPACE tenon:: FILE tenon-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tenon COMPONENT tenon)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tenon-config.cmake CONTENT "include(\${CMAKE_CURRENT_LIST_DIR}/tenon-targets.cmake)\n" @ONLY)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/tenon-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/generated/tenon-config.cmake ${CMAKE_BINARY_DIR}/generated/tenon-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tenon COMPONENT tenon)
endif()
