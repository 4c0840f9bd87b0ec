# Every examples/*.c is one program, built the way a user would build it: public headers and the
# shared library, nothing else. That they compile is the proof that the API is enough.

file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE cleat_flags cleat_shared Threads::Threads)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
                                                   ${PROJECT_BINARY_DIR}/examples)
  add_dependencies(product example_${name})
endforeach()
