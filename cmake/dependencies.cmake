# Finds what libcleat needs; scripts/setup installs it. yyjson and llhttp come from .deps/ when setup
# had to put them there (the release has no packages), otherwise from the system. A minimal build needs yyjson
# alone.

set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)

function(cleat_missing what)
  message(FATAL_ERROR "${what} was not found. Run scripts/setup (it installs what is missing).")
endfunction()

# The multiarch triplet that .deps/usr/lib/ is divided by; the compiler knows it (clang has no
# such option, but CMake asked it already).
set(CLEAT_DEPS "${PROJECT_SOURCE_DIR}/.deps/usr")
set(CLEAT_DEPS_LIB "${CLEAT_DEPS}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")

# cleat_find_library(NAME header library): CLEAT_NAME_INCLUDE, _LIBRARY, _SONAME, the target
# cleat_<library>, and CLEAT_NAME_BUNDLED: not the system's own, so `install` has to bring it along.
# Looked up at every configure, not cached: .deps/ may come and go.
function(cleat_find_library NAME header library)
  unset(CLEAT_${NAME}_INCLUDE CACHE)
  unset(CLEAT_${NAME}_LIBRARY CACHE)
  find_path(CLEAT_${NAME}_INCLUDE ${header} HINTS "${CLEAT_DEPS}/include")
  find_library(CLEAT_${NAME}_LIBRARY ${library} HINTS "${CLEAT_DEPS_LIB}")
  mark_as_advanced(CLEAT_${NAME}_INCLUDE CLEAT_${NAME}_LIBRARY)
  if(NOT CLEAT_${NAME}_INCLUDE OR NOT CLEAT_${NAME}_LIBRARY)
    cleat_missing("${library}")
  endif()
  execute_process(COMMAND ${CMAKE_READELF} -d "${CLEAT_${NAME}_LIBRARY}" OUTPUT_VARIABLE dynamic
                  ERROR_QUIET)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    cleat_missing("${library} as a shared library (${CLEAT_${NAME}_LIBRARY} is none)")
  endif()
  set(soname "${CMAKE_MATCH_1}")
  string(FIND "${CLEAT_${NAME}_LIBRARY}" "${CLEAT_DEPS}/" at)
  if(at EQUAL 0)
    set(CLEAT_${NAME}_BUNDLED ON PARENT_SCOPE)
  else()
    set(CLEAT_${NAME}_BUNDLED OFF PARENT_SCOPE)
  endif()
  set(CLEAT_${NAME}_SONAME "${soname}" PARENT_SCOPE)
  add_library(cleat_${library} SHARED IMPORTED)
  set_target_properties(
    cleat_${library}
    PROPERTIES IMPORTED_LOCATION "${CLEAT_${NAME}_LIBRARY}" IMPORTED_SONAME ${soname}
               INTERFACE_INCLUDE_DIRECTORIES "${CLEAT_${NAME}_INCLUDE}")
endfunction()

# yyjson from its source (CLEAT_YYJSON_SOURCE), for machines that have no package of it; else from where it is.
if(CLEAT_YYJSON_SOURCE)
  set(CLEAT_YYJSON_INCLUDE "${CLEAT_YYJSON_SOURCE}")
  set(CLEAT_YYJSON_LIBRARY "${CLEAT_YYJSON_SOURCE}/yyjson.c")
  add_library(cleat_yyjson STATIC "${CLEAT_YYJSON_LIBRARY}")
  target_compile_options(cleat_yyjson PRIVATE -ffunction-sections -fdata-sections)
  set_target_properties(cleat_yyjson PROPERTIES OUTPUT_NAME yyjson)
  target_include_directories(cleat_yyjson SYSTEM INTERFACE "${CLEAT_YYJSON_SOURCE}")
else()
  cleat_find_library(YYJSON yyjson.h yyjson)
endif()
file(STRINGS "${CLEAT_YYJSON_INCLUDE}/yyjson.h" yyjson_version
     REGEX "^#define YYJSON_VERSION_STRING ")
string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" yyjson_version "${yyjson_version}")
if(yyjson_version VERSION_LESS 0.10.0)
  cleat_missing("yyjson 0.10.0 or newer (there is ${yyjson_version} in ${CLEAT_YYJSON_INCLUDE})")
endif()
message(STATUS "yyjson ${yyjson_version}: ${CLEAT_YYJSON_LIBRARY}")

# cleat_find_header(NAME header): CLEAT_NAME_INCLUDE. For libraries that are opened when they are first needed,
# because linking them costs memory and time in servers that never do: headers at build time only.
function(cleat_find_header NAME header)
  find_path(CLEAT_${NAME}_INCLUDE ${header})
  mark_as_advanced(CLEAT_${NAME}_INCLUDE)
  if(NOT CLEAT_${NAME}_INCLUDE)
    cleat_missing("${header}")
  endif()
endfunction()

# base/crypto.c opens libcrypto for the first seal; linking it costs 1.3 MB of memory and 1 ms of start-up.
# CLEAT_LINK_CRYPTO=ON links it instead (for static or chrooted programs). net/tls.c likewise libssl
# (CLEAT_LINK_TLS), base/regex.c PCRE2 (CLEAT_LINK_PCRE2), fetch/curl.c libcurl (CLEAT_LINK_CURL).
if(NOT CLEAT_MINIMAL OR CLEAT_LINK_CRYPTO)
  cleat_find_header(OPENSSL openssl/evp.h)
endif()
if(NOT CLEAT_MINIMAL OR CLEAT_LINK_PCRE2)
  cleat_find_header(PCRE2 pcre2.h)
endif()
if(CLEAT_MINIMAL)
  return()
endif()
cleat_find_header(CURL curl/curl.h)
if(CLEAT_PROGRAM)
  # What `cleat serve` opens when a configuration needs it.
  cleat_find_header(SQLITE sqlite3.h)
  cleat_find_header(MAGIC magic.h)
  cleat_find_header(SECCOMP seccomp.h)
  cleat_find_header(YAML yaml.h)
endif()

find_package(PkgConfig REQUIRED)
pkg_check_modules(UV IMPORTED_TARGET libuv>=1.44)
if(NOT UV_FOUND)
  cleat_missing("libuv 1.44 or newer")
endif()

# llhttp 9.2 is the first whose strictness http/parser.c was measured against.
cleat_find_library(LLHTTP llhttp.h llhttp)
file(STRINGS "${CLEAT_LLHTTP_INCLUDE}/llhttp.h" llhttp_version
     REGEX "^#define LLHTTP_VERSION_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9;]+" "" llhttp_version "${llhttp_version}")
list(JOIN llhttp_version "." llhttp_version)
if(llhttp_version VERSION_LESS 9.2)
  cleat_missing("llhttp 9.2 or newer (there is ${llhttp_version} in ${CLEAT_LLHTTP_INCLUDE})")
endif()
message(STATUS "llhttp ${llhttp_version}: ${CLEAT_LLHTTP_LIBRARY}")
