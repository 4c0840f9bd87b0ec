# Compiler and linker flags, all in one place. They are attached to the interface target
# cleat_flags, which every target of ours links privately; nothing leaks to users of the library.

add_library(cleat_flags INTERFACE)

# How code is made, also when files are optimised together (core.o).
set(CLEAT_CODE
    # Sections of their own let the linker drop what a program does not use.
    -ffunction-sections
    -fdata-sections
    # Our own calls are to our own functions, also inside the shared library.
    -fno-semantic-interposition
    # Calls into other libraries without a detour through the PLT.
    -fno-plt
    -fstack-protector-strong)

target_compile_options(
  cleat_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wformat=2
            $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
            $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
            -Wvla
            $<$<BOOL:${CLEAT_WERROR}>:-Werror>
            ${CLEAT_CODE})

# As-needed: a library that turns out to be unused must not cost start-up time. relro is cheap;
# `-z now` is deliberately absent, because resolving every symbol at start hurts short-lived servers.
target_link_options(cleat_flags INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro
                                          -Wl,-Bsymbolic-functions)

# -g in the release too: it costs disk, not speed, and a crash report without it is worth nothing.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")

# Sanitized builds keep frames for readable stacks and never go on after a finding.
if(CLEAT_SANITIZE)
  set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
  target_compile_options(
    cleat_flags INTERFACE -fsanitize=${CLEAT_SANITIZE} -fno-sanitize-recover=all
                          -fno-omit-frame-pointer)
  target_link_options(cleat_flags INTERFACE -fsanitize=${CLEAT_SANITIZE})
else()
  # Sanitized libraries find their runtime in the program, so this holds for the others only.
  set(CLEAT_NO_UNDEFINED -Wl,--no-undefined)
endif()

if(CLEAT_COVERAGE)
  target_compile_options(cleat_flags INTERFACE --coverage -fprofile-abs-path -fprofile-update=atomic)
  target_link_options(cleat_flags INTERFACE --coverage)
endif()
