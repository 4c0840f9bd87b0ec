# What `make install` puts where. Everything below works with DESTDIR and with cmake --install
# --prefix: files that name the prefix are written at install time.

include(CMakePackageConfigHelpers)

install(TARGETS cleat_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET cleat_shared)
  install(TARGETS cleat_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES ${CLEAT_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cleat)

# Libraries from .deps/ travel with ours, in a directory of their own so that they cannot get in the way
# of the system's; libcleat.so finds them through its RUNPATH, static programs are told by pkg-config
# or the CMake package.
set(libs_private "-lpthread")
set(link_static "")
set(bundle_flags "")
set(libraries yyjson)
if(NOT CLEAT_MINIMAL)
  set(libraries llhttp yyjson)
  set(libs_private "-luv -lpthread")
  set(link_static "uv")
endif()
if(CLEAT_YYJSON_SOURCE)
  list(REMOVE_ITEM libraries yyjson)
  install(TARGETS cleat_yyjson ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/cleat)
  set(bundle_flags "-L\${libdir}/cleat ")
  string(PREPEND libs_private "-l:libyyjson.a ")
  list(PREPEND link_static "\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_LIBDIR}/cleat/libyyjson.a")
endif()
foreach(library IN LISTS libraries)
  string(TOUPPER ${library} NAME)
  if(CLEAT_${NAME}_BUNDLED)
    file(REAL_PATH "${CLEAT_${NAME}_LIBRARY}" real)
    install(FILES "${real}" DESTINATION ${CMAKE_INSTALL_LIBDIR}/cleat
            RENAME ${CLEAT_${NAME}_SONAME})
    file(GLOB copyright "${CLEAT_DEPS}/share/doc/lib${library}[0-9]*/copyright")
    install(FILES ${copyright} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat
            RENAME ${library}-copyright)
    set(bundle_flags "-L\${libdir}/cleat -Wl,-rpath,\${libdir}/cleat ")
    string(PREPEND libs_private "-l:${CLEAT_${NAME}_SONAME} ")
    list(PREPEND link_static
         "\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_LIBDIR}/cleat/${CLEAT_${NAME}_SONAME}")
  else()
    string(PREPEND libs_private "-l${library} ")
    list(PREPEND link_static ${library})
  endif()
endforeach()
string(PREPEND libs_private "${bundle_flags}")
if(CLEAT_LINK_CRYPTO)
  string(APPEND libs_private " -lcrypto")
  list(APPEND link_static crypto)
endif()
if(CLEAT_LINK_TLS)
  string(APPEND libs_private " -lssl -lcrypto")
  list(APPEND link_static ssl crypto)
endif()
if(CLEAT_LINK_CURL)
  string(APPEND libs_private " -lcurl")
  list(APPEND link_static curl)
endif()
if(CLEAT_LINK_PCRE2)
  string(APPEND libs_private " -lpcre2-8")
  list(APPEND link_static pcre2-8)
endif()
if(NOT CLEAT_MINIMAL)
  foreach(lib IN LISTS CMAKE_DL_LIBS)
    string(APPEND libs_private " -l${lib}")
    list(APPEND link_static ${lib})
  endforeach()
endif()

# pkg-config: filled in twice, the prefix only when it is known for certain
set(CLEAT_LIBS_PRIVATE "${libs_private}")
set(CLEAT_PREFIX "@CMAKE_INSTALL_PREFIX@")
configure_file(${PROJECT_SOURCE_DIR}/cmake/cleat.pc.in ${PROJECT_BINARY_DIR}/cleat.pc.in @ONLY)
install(CODE "configure_file(\"${PROJECT_BINARY_DIR}/cleat.pc.in\"
    \"${PROJECT_BINARY_DIR}/cleat.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/cleat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# For programs without any shared library (cc -static), where there is an archive of all that is needed.
if(NOT CLEAT_MINIMAL)
  set(CLEAT_LIBS_STATIC "-L\${libdir} -l:libcleat.a -L\${libdir}/cleat")
  foreach(archive libllhttp.a libyyjson.a libuv_a.a)
    find_file(CLEAT_ARCHIVE_${archive} ${archive} NO_CACHE
              PATHS "${CLEAT_DEPS_LIB}" /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib /usr/local/lib)
    set(path "${CLEAT_ARCHIVE_${archive}}")
    if(NOT path)
      unset(CLEAT_LIBS_STATIC)
      break()
    endif()
    string(FIND "${path}" "${CLEAT_DEPS}/" at)
    if(at EQUAL 0)
      install(FILES "${path}" DESTINATION ${CMAKE_INSTALL_LIBDIR}/cleat)
    endif()
    string(APPEND CLEAT_LIBS_STATIC " -l:${archive}")
  endforeach()
  foreach(pair CURL:curl TLS:ssl CRYPTO:crypto PCRE2:pcre2-8)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 library)
    if(CLEAT_LINK_${name})
      string(APPEND CLEAT_LIBS_STATIC " -l${library}")
    endif()
  endforeach()
  if(CLEAT_LIBS_STATIC)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/cleat-static.pc.in ${PROJECT_BINARY_DIR}/cleat-static.pc.in
                   @ONLY)
    install(CODE "configure_file(\"${PROJECT_BINARY_DIR}/cleat-static.pc.in\"
    \"${PROJECT_BINARY_DIR}/cleat-static.pc\" @ONLY)")
    install(FILES ${PROJECT_BINARY_DIR}/cleat-static.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endif()

# CMake package
set(CLEAT_LINK_STATIC "${link_static}")
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Cleat)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/CleatConfig.cmake.in ${PROJECT_BINARY_DIR}/CleatConfig.cmake
  INSTALL_DESTINATION ${cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/CleatConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/CleatConfig.cmake ${PROJECT_BINARY_DIR}/CleatConfigVersion.cmake
        DESTINATION ${cmake_dir})

# Documentation: whatever is there.
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json")
# All of them but what a demonstration has made (shop.db) and what is only of use in the source tree.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat
        FILES_MATCHING PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.md" PATTERN "*.json" PATTERN "*.sql" PATTERN "*.csv")
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

# A program that was just linked with -lcleat finds the library only through the loader's cache. Nothing
# of this system is touched for a package (DESTDIR) or a prefix that the loader does not look into.
install(CODE "
  if(\"\$ENV{DESTDIR}\" STREQUAL \"\" AND CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?/?\$\")
    execute_process(COMMAND /sbin/ldconfig OUTPUT_QUIET ERROR_QUIET)
  endif()")
