# The program `cleat`: public headers only, the library linked in (starting is most of what it does). Its
# man pages and completions are printed by itself.

# All but main() are compiled once, for the program and for its unit tests.
file(GLOB cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.c")
list(REMOVE_ITEM cli_sources "${PROJECT_SOURCE_DIR}/cli/main.c")
add_library(cleat_cli OBJECT ${cli_sources})
target_include_directories(cleat_cli PUBLIC include PRIVATE src) # see cmake/layers.txt: may
target_compile_definitions(cleat_cli PUBLIC _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
target_link_libraries(cleat_cli PRIVATE cleat_flags)
foreach(name test_cli_options test_cli_arguments test_cli_config test_cli_jsonedit test_cli_transcript
        test_cli_protocol test_cli_doctor test_cli_print fuzz_cli fuzz_cli_jsonedit fuzz_transcript)
  set(${name}_MORE $<TARGET_OBJECTS:cleat_cli> $<TARGET_OBJECTS:cleat_serve>
                   $<TARGET_OBJECTS:cleat_tap>)
endforeach()
if(CLEAT_FUZZ)
  target_compile_options(cleat_cli PRIVATE -fsanitize=fuzzer-no-link)
  return()
endif()

add_executable(cleat ${PROJECT_SOURCE_DIR}/cli/main.c $<TARGET_OBJECTS:cleat_cli>
                     $<TARGET_OBJECTS:cleat_serve> $<TARGET_OBJECTS:cleat_tap>)
target_link_libraries(cleat PRIVATE cleat_flags cleat_static ${CMAKE_DL_LIBS} Threads::Threads)
target_link_options(cleat PRIVATE ${CLEAT_LINK_LTO})
if(CLEAT_YYJSON_BUNDLED OR CLEAT_LLHTTP_BUNDLED)
  set_target_properties(cleat PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/cleat")
endif()
add_dependencies(product cleat)

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
