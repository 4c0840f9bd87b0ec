# Debian's cross compiler for 64-bit ARM: cmake --toolchain cmake/aarch64-linux-gnu.cmake
# (scripts/setup --for cross). What is found on this machine is for this machine, so libraries and headers are
# looked for in the compiler's own places only; for another machine, copy this file and change the name.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L /usr/aarch64-linux-gnu)
endif()
