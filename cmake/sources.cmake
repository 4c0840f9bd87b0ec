# The one list of what libcleat is made of.
#
# The modules are named here, lowest layer first; their sources are globbed. A module is a directory
# and all of it belongs to the library, so a list of files would only repeat what `ls` says and be
# wrong after a merge. CONFIGURE_DEPENDS makes Ninja look again at every build, so that a new or
# removed file is noticed without re-running cmake by hand (it costs a few milliseconds for this
# many directories). A new *module* is a decision about layers: it is added here and in layers.txt.

# Every server needs these, whichever way it is reached.
set(CLEAT_CORE base json uri rpc wording format schema field protocol request server)
set(CLEAT_MODULES ${CLEAT_CORE} http auth client loop store net child httpd fetch endpoint link run)

# What of them is on the way of a call, for optimisation across files in the static library: of every server's, and
# of one's on HTTP. (Regular expressions for paths below src/.)
set(CLEAT_CORE_PLACES ${CLEAT_CORE})
list(TRANSFORM CLEAT_CORE_PLACES APPEND "/")
list(APPEND CLEAT_CORE_PLACES "net/(fd|framing|outbox|linestream|stream)\\.c" "loop/(loop|watch|thread)\\.c"
     "run/(cancelfd|hooks|metrics|pool|runner)\\.c")
set(CLEAT_DOOR_PLACES httpd/ endpoint/)

# What a wire needs of the other modules; minimal/ stands in for the rest of them.
set(CLEAT_WIRE http/field.c http/fields.c http/token.c loop/thread.c net/fd.c net/framing.c net/linestream.c
    net/outbox.c run/cancelfd.c run/hooks.c run/metrics.c run/pool.c run/runner.c run/wire.c run/wire_server.c
    minimal/loop.c)
if(CLEAT_MINIMAL)
  set(CLEAT_MODULES ${CLEAT_CORE})
endif()

set(CLEAT_SOURCES "")
foreach(module IN LISTS CLEAT_MODULES)
  file(GLOB module_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${module}/*.c")
  list(APPEND CLEAT_SOURCES ${module_sources})
endforeach()

if(CLEAT_MINIMAL)
  foreach(pair CRYPTO:crypto PCRE2:regex)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 file)
    if(NOT CLEAT_LINK_${name})
      list(REMOVE_ITEM CLEAT_SOURCES "${PROJECT_SOURCE_DIR}/src/base/${file}.c")
      list(APPEND CLEAT_WIRE minimal/${file}.c)
    endif()
  endforeach()
  list(REMOVE_ITEM CLEAT_SOURCES "${PROJECT_SOURCE_DIR}/src/base/lazy.c")
  list(TRANSFORM CLEAT_WIRE PREPEND "${PROJECT_SOURCE_DIR}/src/")
  list(APPEND CLEAT_SOURCES ${CLEAT_WIRE})
endif()

# The fixture server of the wire tests also serves the session's fuzz target, the clients' unit tests, the
# end-to-end tests and the conformance suite.
file(GLOB CLEAT_FIXTURE_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/wire/fixture*.c")
set(fuzz_session_MORE ${CLEAT_FIXTURE_SOURCES})
set(fuzz_mcp_http_MORE ${CLEAT_FIXTURE_SOURCES})
set(test_client_matrix_MORE ${CLEAT_FIXTURE_SOURCES})
file(GLOB CLEAT_PUBLIC_HEADERS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/cleat/*.h"
     "${PROJECT_SOURCE_DIR}/include/cleat/*.hpp")

# What runs when a program starts, when something is registered or refused, but not for each message, is
# compiled for size: it is more than half of the code, and a program with the static library carries all
# of it.
set(CLEAT_COLD
    auth/tokens.c base/crypto.c base/lazy.c base/regex.c
    http/origin.c http/sse_reader.c json/canonical.c json/format.c json/mend.c
    protocol/describe.c protocol/headers.c protocol/seal.c
    rpc/call.c rpc/intake.c rpc/peer.c rpc/request.c
    run/accesslog.c run/cancelfd.c run/client.c run/client_asked.c run/client_attach.c
    run/client_connect.c run/client_inproc.c run/client_spawn.c run/http.c run/http_guard.c run/http_metrics.c run/main.c
    run/main_parse.c run/metrics.c run/pool.c run/reach.c run/runner.c run/stdio.c
    schema/compile.c schema/describe.c schema/dialect.c schema/explain.c field/field.c
    field/schema.c field/table.c field/form.c format/format.c format/alabel.c
    format/host.c format/time.c schema/keyword.c schema/locate.c schema/nearest.c
    schema/path.c format/pattern.c format/pattern_escape.c format/pattern_unicode.c field/reader.c
    schema/rules.c schema/set.c wording/show.c field/signature.c field/signature_print.c
    wording/wording.c
    server/add.c server/ask.c server/ask_api.c server/batch.c server/object.c request/entry.c server/lifecycle.c
    server/lists.c request/note.c request/question.c request/registry.c server/subscribe.c
    store/buckets.c store/events.c store/memory.c
    httpd/accept.c httpd/deadline.c httpd/peers.c httpd/server.c
    net/listen.c endpoint/channel.c endpoint/old.c endpoint/policy.c
    net/systemd.c net/tls.c
    uri/address.c uri/chars.c uri/expand.c uri/match.c uri/reference.c uri/template.c)
list(TRANSFORM CLEAT_COLD PREPEND "${PROJECT_SOURCE_DIR}/src/")
set_source_files_properties(
  ${CLEAT_COLD} PROPERTIES COMPILE_OPTIONS
                           "$<$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>:-Os>")
