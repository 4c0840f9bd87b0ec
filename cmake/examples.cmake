# Every examples/*.c is one program, built the way a user would build it: public headers and the
# shared library, nothing else. That they compile is the proof that the API is enough. Where there is a C++
# compiler (of the same make, if both have to agree about a sanitizer), so is every examples/*.cpp, as NAME_cpp.

file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  if(NOT CLEAT_SANITIZE OR CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
    file(GLOB cpp_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
    list(APPEND example_sources ${cpp_sources})
  endif()
endif()
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  if(source MATCHES "[.]cpp$")
    string(APPEND name _cpp)
  endif()
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE cleat_flags cleat_shared Threads::Threads)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} CXX_STANDARD 17
                                                   RUNTIME_OUTPUT_DIRECTORY
                                                   ${PROJECT_BINARY_DIR}/examples)
  add_dependencies(product example_${name})
endforeach()
