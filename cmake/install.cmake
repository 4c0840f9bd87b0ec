# What `make install` puts where. Everything below works with DESTDIR and with cmake --install
# --prefix: files that name the prefix are written at install time.

include(CMakePackageConfigHelpers)

install(TARGETS cleat cleat_static LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CLEAT_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cleat)

# yyjson from .deps/ travels with the library, in a directory of its own so that it cannot get in the
# way of the system's; libcleat.so finds it through its RUNPATH, static programs are told by
# pkg-config or the CMake package.
set(libs_private "-luv -lpthread")
set(link_static "uv")
if(CLEAT_YYJSON_BUNDLED)
  file(REAL_PATH "${CLEAT_YYJSON_LIBRARY}" yyjson_real)
  install(FILES "${yyjson_real}" DESTINATION ${CMAKE_INSTALL_LIBDIR}/cleat RENAME libyyjson.so.0)
  install(FILES "${CLEAT_DEPS}/share/doc/libyyjson0/copyright"
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat RENAME yyjson-copyright)
  string(PREPEND libs_private
         "-L\${libdir}/cleat -Wl,-rpath,\${libdir}/cleat -l:libyyjson.so.0 ")
  set(yyjson_static "\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_LIBDIR}/cleat/libyyjson.so.0")
else()
  string(PREPEND libs_private "-lyyjson ")
  set(yyjson_static yyjson)
endif()
list(PREPEND link_static "${yyjson_static}")
if(CLEAT_LINK_CRYPTO)
  string(APPEND libs_private " -lcrypto")
  list(APPEND link_static crypto)
endif()
foreach(lib IN LISTS CMAKE_DL_LIBS)
  string(APPEND libs_private " -l${lib}")
  list(APPEND link_static ${lib})
endforeach()

# pkg-config: filled in twice, the prefix only when it is known for certain
set(CLEAT_LIBS_PRIVATE "${libs_private}")
set(CLEAT_PREFIX "@CMAKE_INSTALL_PREFIX@")
configure_file(${PROJECT_SOURCE_DIR}/cmake/cleat.pc.in ${PROJECT_BINARY_DIR}/cleat.pc.in @ONLY)
install(CODE "configure_file(\"${PROJECT_BINARY_DIR}/cleat.pc.in\"
    \"${PROJECT_BINARY_DIR}/cleat.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/cleat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

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
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/cleat
        FILES_MATCHING PATTERN "*.c" PATTERN "*.md")
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
