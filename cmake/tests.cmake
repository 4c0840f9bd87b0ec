# The test suite. A test is found by its place and name, so that adding one needs no edit here:
#   tests/unit/ROOM/test_*.c  cmocka programs, linked statically so that they reach internals
#   tests/unit/ROOM/*_rig.c what several of them are set up with: a library a room (see cleat_link_rigs)
#   fuzz/fuzz_*.c           replayed over fuzz/corpus/NAME/ (with fuzz/replay.c as the driver)
#   tests/wire/*.c          one program, wire_runner, given the directory of scripts
#   tests/e2e/test_*.sh     shell; test_*.mjs: node; *.c: servers for them, with wire's fixture
#   tests/conformance/*.c   conformance_NAME, likewise: what scripts/conformance runs
#   checks                  headers, layers, symbols, documentation, installation
# All speak TAP; scripts/tap-run runs each and keeps what it said for scripts/run-tests to add up.

enable_testing()
include(ProcessorCount)
# Far more than any needs: only one that hangs gets there, however much else the machine has to do.
set(CLEAT_TEST_TIMEOUT 900 CACHE STRING "seconds that one test program may take")

find_path(CLEAT_CMOCKA_INCLUDE cmocka.h)
find_library(CLEAT_CMOCKA_LIBRARY cmocka)
mark_as_advanced(CLEAT_CMOCKA_INCLUDE CLEAT_CMOCKA_LIBRARY)

# cleat_test(NAME <name> LABELS <labels> [NODE] COMMAND <command>...)
function(cleat_test)
  cmake_parse_arguments(arg "NODE" "NAME" "LABELS;COMMAND" ${ARGN})
  set(options --timeout ${CLEAT_TEST_TIMEOUT})
  if(arg_NODE)
    list(APPEND options --node)
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${PROJECT_SOURCE_DIR}/scripts/tap-run ${options} ${arg_NAME}
                                    ${PROJECT_BINARY_DIR}/tap ${arg_COMMAND})
  # The wrapper enforces the timeout (and says so); ctest's own is a second fence, far enough away
  # for runs under valgrind.
  set_tests_properties(
    ${arg_NAME}
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 3600 ENVIRONMENT
               "CLEAT_BUILD_DIR=${PROJECT_BINARY_DIR};CLEAT_SOURCE_DIR=${PROJECT_SOURCE_DIR};CLEAT_MISUSE=log")
endfunction()

# Whether a test is of the program, which may not be built.
function(cleat_of_program source ret)
  set(found OFF)
  file(STRINGS ${source} includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\".*" "\\1" include "${include}")
    if(EXISTS "${PROJECT_SOURCE_DIR}/program/${include}")
      set(found ON)
    endif()
  endforeach()
  if(source MATCHES "/unit/program/")
    set(found ON)
  endif()
  set(${ret} ${found} PARENT_SCOPE)
endfunction()

# What may look inside the library.
set(inner cleat_inner)
if(CLEAT_PROGRAM)
  set(inner cleat_program)
endif()
function(cleat_inner_target name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE CLEAT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" _GNU_SOURCE=)
  target_link_libraries(${name} PRIVATE cleat_flags ${inner})
endfunction()
function(cleat_inner_program name directory)
  add_executable(${name} ${ARGN})
  cleat_inner_target(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${PROJECT_BINARY_DIR}/${directory})
endfunction()

# ---- unit -----------------------------------------------------------------------------------------

file(GLOB unit_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/*/test_*.c")
# Compiled once, for two hundred programs.
file(GLOB support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/support*.c")
add_library(cleat_test_support OBJECT ${support_sources})
cleat_inner_target(cleat_test_support)
set(unit_support $<TARGET_OBJECTS:cleat_test_support>)
# What a test links besides. The clients of the TLS tests are OpenSSL's.
foreach(name test_tls test_tls_files test_tls_memory test_tls_missing test_httpd_tls
             test_http_threads_tls test_fetcher_tls)
  set(${name}_LINK ssl crypto)
endforeach()
if(CLEAT_CMOCKA_LIBRARY)
  # Rigs, compiled once: cleat_rig_ROOM. Archives, so that a program gets only those that it calls.
  function(cleat_test_includes target)
    target_include_directories(${target} SYSTEM PRIVATE ${CLEAT_CMOCKA_INCLUDE})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests
                                                 ${PROJECT_SOURCE_DIR}/tests/unit)
  endfunction()
  file(GLOB rig_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/*/*_rig.c")
  foreach(source IN LISTS rig_sources)
    string(REGEX REPLACE ".*/unit/([^/]*)/.*" "\\1" room ${source})
    if(room STREQUAL "program" AND NOT CLEAT_PROGRAM)
      continue()
    elseif(NOT TARGET cleat_rig_${room})
      add_library(cleat_rig_${room} STATIC EXCLUDE_FROM_ALL)
      cleat_inner_target(cleat_rig_${room})
      cleat_test_includes(cleat_rig_${room})
      list(APPEND rig_rooms ${room})
    endif()
    target_sources(cleat_rig_${room} PRIVATE ${source})
  endforeach()
  # cleat_link_rigs(<target> <file>...): the rigs of the room that a file is in, and of those whose
  # rigs it includes.
  function(cleat_link_rigs target)
    set(rooms)
    foreach(file IN LISTS ARGN)
      file(STRINGS ${file} includes REGEX "^#include \"unit/.*_rig[.]h\"")
      foreach(path IN ITEMS ${file} LISTS includes)
        string(REGEX REPLACE ".*unit/([^/]*)/.*" "\\1" room "${path}")
        list(APPEND rooms ${room})
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES rooms)
    foreach(room IN LISTS rooms)
      if(TARGET cleat_rig_${room} AND NOT target STREQUAL "cleat_rig_${room}")
        target_link_libraries(${target} PRIVATE cleat_rig_${room})
      endif()
    endforeach()
  endfunction()
  foreach(room IN LISTS rig_rooms)
    file(GLOB rig_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/${room}/*_rig.[ch]")
    cleat_link_rigs(cleat_rig_${room} ${rig_files})
  endforeach()
  add_library(cleat_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/unit/test.c")
  target_include_directories(cleat_test_main SYSTEM PRIVATE ${CLEAT_CMOCKA_INCLUDE})
  target_compile_definitions(cleat_test_main PRIVATE _GNU_SOURCE=)
  target_link_libraries(cleat_test_main PRIVATE cleat_flags)
  foreach(source IN LISTS unit_sources)
    cleat_of_program(${source} of_program)
    if(of_program AND NOT CLEAT_PROGRAM)
      continue()
    endif()
    cmake_path(GET source STEM name)
    string(REGEX REPLACE "^test_" "" short ${name})
    cleat_inner_program(${name} tests ${source} $<TARGET_OBJECTS:cleat_test_main>
                        ${unit_support} ${${name}_MORE})
    cleat_test_includes(${name})
    cleat_link_rigs(${name} ${source})
    target_link_libraries(${name} PRIVATE ${CLEAT_CMOCKA_LIBRARY} ${${name}_LINK})
    cleat_test(NAME unit.${short} LABELS unit memcheck COMMAND $<TARGET_FILE:${name}>)
  endforeach()
else()
  message(STATUS "no cmocka: unit tests are not built (scripts/setup --for test installs it)")
endif()

# ---- fuzz corpora, replayed -----------------------------------------------------------------------

file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c")
foreach(source IN LISTS fuzz_sources)
  cleat_of_program(${source} of_program)
  if(of_program AND NOT CLEAT_PROGRAM)
    continue()
  endif()
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "^fuzz_" "" short ${name})
  cleat_inner_program(replay_${short} tests ${source} ${PROJECT_SOURCE_DIR}/fuzz/replay.c
                      ${${name}_MORE})
  # libFuzzer declares its entry point nowhere. (A property of the source comes last on the command
  # line, after cleat_flags.)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  cleat_test(NAME fuzz.${short} LABELS fuzz COMMAND $<TARGET_FILE:replay_${short}>
             ${PROJECT_SOURCE_DIR}/fuzz/corpus/${short})
endforeach()

# ---- wire scripts ---------------------------------------------------------------------------------

set(wire_torture
    batch/batch common/completion common/contents common/deferred common/prompts common/resources
    common/tools_call common/tools_call_errors legacy/ask_rounds legacy/initialize legacy/subscribe
    modern/listen modern/mrtr_rounds modern/mrtr_state modern/weather)
file(GLOB wire_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/wire/*.c")
if(wire_sources AND CLEAT_CMOCKA_LIBRARY) # its stages are made with rigs of unit tests
  cleat_inner_program(wire_runner tests ${wire_sources} ${unit_support})
  cleat_test_includes(wire_runner)
  file(GLOB wire_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/wire/*.h")
  cleat_link_rigs(wire_runner ${wire_sources} ${wire_headers})
  target_link_libraries(wire_runner PRIVATE ${CLEAT_CMOCKA_LIBRARY})
  cleat_test(NAME wire LABELS wire memcheck COMMAND $<TARGET_FILE:wire_runner>
             ${PROJECT_SOURCE_DIR}/tests/wire)
  # One of each kind with each allocation failing; all of them: scripts/torture.
  list(TRANSFORM wire_torture PREPEND ${PROJECT_SOURCE_DIR}/tests/wire/transcripts/)
  list(TRANSFORM wire_torture APPEND .txt)
  cleat_test(NAME torture.wire LABELS wire COMMAND $<TARGET_FILE:wire_runner> --torture
             ${wire_torture})
endif()

# What scripts/torture runs.
add_custom_target(torture)
foreach(source IN LISTS unit_sources)
  cmake_path(GET source STEM name)
  if(TARGET ${name})
    add_dependencies(torture ${name})
  endif()
endforeach()
if(TARGET wire_runner)
  add_dependencies(torture wire_runner)
endif()
cleat_inner_program(
  torture_http tests ${PROJECT_SOURCE_DIR}/tests/torture/http.c
  ${PROJECT_SOURCE_DIR}/fuzz/fuzz_mcp_http.c ${CLEAT_FIXTURE_SOURCES} ${unit_support})
cleat_inner_program(torture_client tests ${PROJECT_SOURCE_DIR}/tests/torture/client.c ${unit_support})
foreach(name torture_http torture_client)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/unit)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(torture ${name})
endforeach()

# ---- end to end -----------------------------------------------------------------------------------

# Servers that the scripts start: public headers and the shared library, as in examples/.
file(GLOB e2e_servers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/e2e/*.c"
     "${PROJECT_SOURCE_DIR}/tests/conformance/*.c")
foreach(source IN LISTS e2e_servers)
  cmake_path(GET source STEM name)
  if(source MATCHES "/conformance/")
    set(name conformance_${name})
  endif()
  add_executable(${name} ${source} ${CLEAT_FIXTURE_SOURCES})
  target_link_libraries(${name} PRIVATE cleat_flags cleat_shared)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()
if(CLEAT_PROGRAM) # which leads nearly all of them
  file(GLOB e2e_shell CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/e2e/test_*.sh")
  file(GLOB e2e_node CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/e2e/test_*.mjs")
endif()
foreach(script IN LISTS e2e_shell)
  cmake_path(GET script STEM name)
  string(REGEX REPLACE "^test_" "" short ${name})
  # A shell test that calls node says so in a line of its own.
  file(STRINGS ${script} needs_node REGEX "^# needs: node")
  if(needs_node)
    cleat_test(NODE NAME e2e.${short} LABELS e2e COMMAND bash ${script})
  else()
    cleat_test(NAME e2e.${short} LABELS e2e COMMAND bash ${script})
  endif()
endforeach()
foreach(script IN LISTS e2e_node)
  cmake_path(GET script STEM name)
  string(REGEX REPLACE "^test_" "" short ${name})
  cleat_test(NODE NAME e2e.${short} LABELS e2e COMMAND node ${script})
endforeach()

# ---- checks of the tree and of the installation ---------------------------------------------------
# They say nothing new about a sanitized build, whose library an outside program could not link.

if(NOT CLEAT_SANITIZE AND NOT CLEAT_COVERAGE)
  cleat_test(NAME check.headers LABELS check COMMAND bash
             ${PROJECT_SOURCE_DIR}/tests/headers/test_headers.sh)
  cleat_test(NAME check.cpp LABELS check COMMAND bash ${PROJECT_SOURCE_DIR}/tests/headers/test_cpp.sh)
  cleat_test(NAME check.layers LABELS check COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-layers --tap)
  cleat_test(NAME check.symbols LABELS check COMMAND
             ${PROJECT_SOURCE_DIR}/scripts/check-symbols --tap ${PROJECT_BINARY_DIR})
  cleat_test(NAME check.docs LABELS check COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-docs --tap)
  cleat_test(NAME check.install LABELS check COMMAND bash
             ${PROJECT_SOURCE_DIR}/tests/install/test_install.sh)
  cleat_test(NAME check.variants LABELS check COMMAND bash
             ${PROJECT_SOURCE_DIR}/tests/install/test_variants.sh)
endif()
