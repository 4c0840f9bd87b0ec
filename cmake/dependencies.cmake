# Finds what libcleat needs; scripts/setup installs it. yyjson and llhttp come from .deps/ when setup
# had to put them there (the release has no packages), otherwise from the system.

list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(THREADS_PREFER_PTHREAD_FLAG OFF)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UV IMPORTED_TARGET libuv>=1.44)

function(cleat_missing what)
  message(FATAL_ERROR "${what} was not found. Run scripts/setup (it installs what is missing).")
endfunction()

if(NOT UV_FOUND)
  cleat_missing("libuv 1.44 or newer")
endif()

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

cleat_find_library(YYJSON yyjson.h yyjson)
file(STRINGS "${CLEAT_YYJSON_INCLUDE}/yyjson.h" yyjson_version
     REGEX "^#define YYJSON_VERSION_STRING ")
string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" yyjson_version "${yyjson_version}")
if(yyjson_version VERSION_LESS 0.10.0)
  cleat_missing("yyjson 0.10.0 or newer (there is ${yyjson_version} in ${CLEAT_YYJSON_INCLUDE})")
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

# libcrypto: headers at build time only. base/crypto.c opens the library when the first seal is
# asked for, because linking it costs 1.3 MB of memory and 1 ms of start-up in servers that never
# seal. CLEAT_LINK_CRYPTO=ON links it instead (for static or chrooted programs). libssl likewise, for
# net/tls.c and the first certificate; CLEAT_LINK_TLS=ON.
find_path(CLEAT_OPENSSL_INCLUDE openssl/evp.h)
mark_as_advanced(CLEAT_OPENSSL_INCLUDE)
if(NOT CLEAT_OPENSSL_INCLUDE)
  cleat_missing("openssl/evp.h (OpenSSL 3)")
endif()

# PCRE2, likewise: base/regex.c opens it when the first pattern is compiled. CLEAT_LINK_PCRE2=ON
# links it.
find_path(CLEAT_PCRE2_INCLUDE pcre2.h)
mark_as_advanced(CLEAT_PCRE2_INCLUDE)
if(NOT CLEAT_PCRE2_INCLUDE)
  cleat_missing("pcre2.h (PCRE2)")
endif()

# libcurl, likewise: fetch/curl.c opens it for the first HTTP client. CLEAT_LINK_CURL=ON links it.
find_path(CLEAT_CURL_INCLUDE curl/curl.h)
mark_as_advanced(CLEAT_CURL_INCLUDE)
if(NOT CLEAT_CURL_INCLUDE)
  cleat_missing("curl/curl.h (libcurl)")
endif()

# What `cleat serve` opens when a configuration needs it: headers only, as above.
foreach(pair SQLITE:sqlite3.h MAGIC:magic.h SECCOMP:seccomp.h YAML:yaml.h)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 header)
  find_path(CLEAT_${name}_INCLUDE ${header})
  mark_as_advanced(CLEAT_${name}_INCLUDE)
  if(NOT CLEAT_${name}_INCLUDE)
    cleat_missing("${header}")
  endif()
endforeach()

message(STATUS "yyjson ${yyjson_version}: ${CLEAT_YYJSON_LIBRARY}")
message(STATUS "llhttp ${llhttp_version}: ${CLEAT_LLHTTP_LIBRARY}")
