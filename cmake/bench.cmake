# What `make bench` runs: a driver, the yardsticks, examples/hello.c against the static library, the
# way a small program would ship, and the cost of checking a tool's arguments. `make load` needs the
# many clients of load_http.c and the many files of load_folder.c.

add_executable(bench_pipe ${PROJECT_SOURCE_DIR}/bench/pipe.c)
target_link_libraries(bench_pipe PRIVATE cleat_flags)

add_executable(bench_bare ${PROJECT_SOURCE_DIR}/bench/bare_pipe.c)
target_link_libraries(bench_bare PRIVATE cleat_flags cleat_yyjson)

add_executable(bench_hello_static ${PROJECT_SOURCE_DIR}/examples/hello.c)
target_link_libraries(bench_hello_static PRIVATE cleat_flags cleat_static)

add_executable(bench_hello_stdio ${PROJECT_SOURCE_DIR}/bench/hello_stdio.c)
target_link_libraries(bench_hello_stdio PRIVATE cleat_flags cleat_static)

add_executable(bench_schema ${PROJECT_SOURCE_DIR}/bench/schema.c)
target_link_libraries(bench_schema PRIVATE cleat_flags cleat_static)

add_executable(bench_bare_http ${PROJECT_SOURCE_DIR}/bench/bare_http.c)
target_link_libraries(bench_bare_http PRIVATE cleat_flags cleat_yyjson cleat_llhttp PkgConfig::UV)

add_executable(bench_load_http ${PROJECT_SOURCE_DIR}/bench/load_http.c)
target_link_libraries(bench_load_http PRIVATE cleat_flags)

add_executable(bench_load_folder ${PROJECT_SOURCE_DIR}/bench/load_folder.c)
target_link_libraries(bench_load_folder PRIVATE cleat_flags cleat_static)

# A client, calling one after the other: client and server together, beside two bare programs.
add_executable(bench_roundtrip ${PROJECT_SOURCE_DIR}/bench/roundtrip.c)
target_link_libraries(bench_roundtrip PRIVATE cleat_flags)

add_executable(bench_client ${PROJECT_SOURCE_DIR}/bench/client.c)
target_link_libraries(bench_client PRIVATE cleat_flags cleat_static)

add_executable(bench_bare_client ${PROJECT_SOURCE_DIR}/bench/bare_client.c)
target_link_libraries(bench_bare_client PRIVATE cleat_flags cleat_yyjson)

# What `make bench` needs, without the tests.
add_custom_target(benchmarks)
foreach(program pipe bare hello_static hello_stdio schema bare_http load_http load_folder
                roundtrip client bare_client)
  add_dependencies(benchmarks bench_${program})
  set_target_properties(bench_${program} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY
                                                    ${PROJECT_BINARY_DIR}/bench)
endforeach()
