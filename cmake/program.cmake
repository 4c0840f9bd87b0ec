# The program `cleat`: everything under program/, with the library linked in (starting is most of what it
# does). Its man pages and completions are printed by itself.

# The schema of configurations, as a C array.
set(serve_schema "${PROJECT_BINARY_DIR}/serve_schema.c")
add_custom_command(
  OUTPUT ${serve_schema}
  COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/docs/serve.schema.json
          -DOUTPUT=${serve_schema} -DNAME=serve_schema_text -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/docs/serve.schema.json ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)

# All but main(), as an archive: the program's unit tests and fuzz targets take out of it what they need.
file(GLOB_RECURSE program_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/program/*.c")
list(REMOVE_ITEM program_sources "${PROJECT_SOURCE_DIR}/program/main.c")
add_library(cleat_program STATIC ${program_sources} ${serve_schema})
target_include_directories(cleat_program PRIVATE src PUBLIC program include)
target_include_directories(
  cleat_program SYSTEM PRIVATE ${CLEAT_SQLITE_INCLUDE} ${CLEAT_MAGIC_INCLUDE} ${CLEAT_SECCOMP_INCLUDE}
                               ${CLEAT_YAML_INCLUDE} ${CLEAT_PCRE2_INCLUDE} ${CLEAT_CURL_INCLUDE})
target_compile_definitions(cleat_program PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE=)
target_link_libraries(cleat_program PRIVATE cleat_flags cleat_yyjson PkgConfig::UV)
target_link_libraries(cleat_program PUBLIC cleat_inner ${CMAKE_DL_LIBS} Threads::Threads)
if(CLEAT_FUZZ)
  target_compile_options(cleat_program PRIVATE -fsanitize=fuzzer-no-link)
  return()
endif()

add_executable(cleat ${PROJECT_SOURCE_DIR}/program/main.c)
target_link_libraries(cleat PRIVATE cleat_flags cleat_program)
target_link_options(cleat PRIVATE ${CLEAT_LINK_LTO})
if(CLEAT_YYJSON_BUNDLED OR CLEAT_LLHTTP_BUNDLED)
  set_target_properties(cleat PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/cleat")
endif()
add_dependencies(product cleat)

install(FILES ${PROJECT_SOURCE_DIR}/docs/serve.schema.json
        DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/cleat)
install(TARGETS cleat RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    set(pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
    set(shells \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\")
    file(MAKE_DIRECTORY \"\${pages}\")
    execute_process(COMMAND \"$<TARGET_FILE:cleat>\" man --list OUTPUT_VARIABLE names
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE \"\\n\" \";\" names \"\${names}\")
    foreach(name IN LISTS names)
      string(REGEX REPLACE \"^cleat-?\" \"\" verb \"\${name}\")
      execute_process(COMMAND \"$<TARGET_FILE:cleat>\" man \${verb} OUTPUT_FILE \"\${pages}/\${name}.1\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    foreach(file bash:bash-completion/completions/cleat zsh:zsh/site-functions/_cleat
            fish:fish/vendor_completions.d/cleat.fish)
      string(REPLACE \":\" \";\" pair \"\${file}\")
      list(GET pair 0 shell)
      list(GET pair 1 path)
      get_filename_component(directory \"\${shells}/\${path}\" DIRECTORY)
      file(MAKE_DIRECTORY \"\${directory}\")
      execute_process(COMMAND \"$<TARGET_FILE:cleat>\" completion \${shell}
                      OUTPUT_FILE \"\${shells}/\${path}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endif()
