# Finds what libcleat needs; scripts/setup installs it. yyjson comes from .deps/ when setup had to
# put it there (the release has no package), otherwise from the system.

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

# Looked up at every configure, not cached: .deps/ may come and go.
unset(CLEAT_YYJSON_INCLUDE CACHE)
unset(CLEAT_YYJSON_LIBRARY CACHE)
find_path(CLEAT_YYJSON_INCLUDE yyjson.h HINTS "${CLEAT_DEPS}/include")
find_library(CLEAT_YYJSON_LIBRARY yyjson HINTS "${CLEAT_DEPS_LIB}")
mark_as_advanced(CLEAT_YYJSON_INCLUDE CLEAT_YYJSON_LIBRARY)
if(NOT CLEAT_YYJSON_INCLUDE OR NOT CLEAT_YYJSON_LIBRARY)
  cleat_missing("yyjson")
endif()
file(STRINGS "${CLEAT_YYJSON_INCLUDE}/yyjson.h" yyjson_version
     REGEX "^#define YYJSON_VERSION_STRING ")
string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" yyjson_version "${yyjson_version}")
if(yyjson_version VERSION_LESS 0.10.0)
  cleat_missing("yyjson 0.10.0 or newer (there is ${yyjson_version} in ${CLEAT_YYJSON_INCLUDE})")
endif()

# CLEAT_YYJSON_BUNDLED: not the system's own, so `install` has to bring it along.
string(FIND "${CLEAT_YYJSON_LIBRARY}" "${CLEAT_DEPS}/" at)
if(at EQUAL 0)
  set(CLEAT_YYJSON_BUNDLED ON)
else()
  set(CLEAT_YYJSON_BUNDLED OFF)
endif()

add_library(cleat_yyjson SHARED IMPORTED)
set_target_properties(
  cleat_yyjson PROPERTIES IMPORTED_LOCATION "${CLEAT_YYJSON_LIBRARY}" IMPORTED_SONAME libyyjson.so.0
                          INTERFACE_INCLUDE_DIRECTORIES "${CLEAT_YYJSON_INCLUDE}")

# libcrypto: headers at build time only. base/crypto.c opens the library when the first seal is
# asked for, because linking it costs 1.3 MB of memory and 1 ms of start-up in servers that never
# seal. CLEAT_LINK_CRYPTO=ON links it instead (for static or chrooted programs).
find_path(CLEAT_OPENSSL_INCLUDE openssl/evp.h)
mark_as_advanced(CLEAT_OPENSSL_INCLUDE)
if(NOT CLEAT_OPENSSL_INCLUDE)
  cleat_missing("openssl/evp.h (OpenSSL 3)")
endif()

message(STATUS "yyjson ${yyjson_version}: ${CLEAT_YYJSON_LIBRARY}")
