# Every fuzz/fuzz_NAME.c is one libFuzzer program (preset fuzz). scripts/fuzz runs them.

if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "libFuzzer comes with clang: use `cmake --preset fuzz`.")
endif()

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c")
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source} ${${name}_MORE})
  target_include_directories(${name} PRIVATE src)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE=)
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  # libFuzzer declares its entry point nowhere. (A property of the source comes last on the command
  # line, after cleat_flags.)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE cleat_flags cleat_program)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endforeach()
