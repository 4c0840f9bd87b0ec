# The one list of what libcleat is made of.
#
# The modules are named here, lowest layer first; their sources are globbed. A module is a directory
# and all of it belongs to the library, so a list of files would only repeat what `ls` says and be
# wrong after a merge. CONFIGURE_DEPENDS makes Ninja look again at every build, so that a new or
# removed file is noticed without re-running cmake by hand (it costs a few milliseconds for this
# many directories). A new *module* is a decision about layers: it is added here and in layers.txt.

set(CLEAT_MODULES base json uri http rpc schema protocol auth server loop store transport run)

set(CLEAT_SOURCES "")
foreach(module IN LISTS CLEAT_MODULES)
  file(GLOB module_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${module}/*.c")
  list(APPEND CLEAT_SOURCES ${module_sources})
endforeach()

# The fixture server of the wire tests also serves the session's fuzz target, the end-to-end tests and
# the conformance suite.
file(GLOB CLEAT_FIXTURE_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/wire/fixture*.c")
set(fuzz_session_MORE ${CLEAT_FIXTURE_SOURCES})

file(GLOB CLEAT_PUBLIC_HEADERS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/cleat/*.h")
