# `cleat serve`: a part of the program, not of the library, compiled once for the program and for its own
# unit tests and fuzz targets (tests/unit/test_serve_*.c, fuzz/fuzz_serve_*.c).

# The schema of configurations, as a C array.
set(serve_schema "${PROJECT_BINARY_DIR}/serve_schema.c")
add_custom_command(
  OUTPUT ${serve_schema}
  COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/docs/serve.schema.json
          -DOUTPUT=${serve_schema} -DNAME=serve_schema_text -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/docs/serve.schema.json ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)

file(GLOB serve_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/serve/*.c")
add_library(cleat_serve OBJECT ${serve_sources} ${serve_schema})
target_include_directories(cleat_serve PRIVATE src PUBLIC include)
target_include_directories(
  cleat_serve SYSTEM PRIVATE ${CLEAT_SQLITE_INCLUDE} ${CLEAT_MAGIC_INCLUDE} ${CLEAT_SECCOMP_INCLUDE} ${CLEAT_YAML_INCLUDE}
                             ${CLEAT_PCRE2_INCLUDE} ${CLEAT_CURL_INCLUDE})
target_link_libraries(cleat_serve PRIVATE cleat_flags cleat_yyjson PkgConfig::UV Threads::Threads)
install(FILES ${PROJECT_SOURCE_DIR}/docs/serve.schema.json
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/cleat)
if(CLEAT_FUZZ)
  target_compile_options(cleat_serve PRIVATE -fsanitize=fuzzer-no-link)
endif()

file(GLOB serve_users CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/test_serve_*.c"
     "${PROJECT_SOURCE_DIR}/fuzz/fuzz_serve_*.c")
foreach(source IN LISTS serve_users)
  cmake_path(GET source STEM name)
  set(${name}_MORE $<TARGET_OBJECTS:cleat_serve>)
endforeach()
