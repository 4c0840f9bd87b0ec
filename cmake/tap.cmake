# `cleat record` and `cleat replay` over HTTP: a part of the program, not of the library, compiled once for the
# program and for its own unit tests (tests/unit/test_tap_*.c).

file(GLOB tap_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tap/*.c")
add_library(cleat_tap OBJECT ${tap_sources})
target_include_directories(cleat_tap PRIVATE src PUBLIC include)
target_link_libraries(cleat_tap PRIVATE cleat_flags)
if(CLEAT_FUZZ)
  target_compile_options(cleat_tap PRIVATE -fsanitize=fuzzer-no-link)
endif()

file(GLOB tap_users CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/test_tap_*.c")
foreach(source IN LISTS tap_users)
  cmake_path(GET source STEM name)
  set(${name}_MORE $<TARGET_OBJECTS:cleat_tap>)
endforeach()
