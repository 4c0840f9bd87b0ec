# The one list of what libcleat is made of.
#
# The modules are named here, lowest layer first; their sources are globbed. A module is a directory
# and all of it belongs to the library, so a list of files would only repeat what `ls` says and be
# wrong after a merge. CONFIGURE_DEPENDS makes Ninja look again at every build, so that a new or
# removed file is noticed without re-running cmake by hand (it costs a few milliseconds for this
# many directories). A new *module* is a decision about layers: it is added here and in layers.txt.

set(CLEAT_MODULES base json uri http rpc schema protocol auth server client loop store transport run)

set(CLEAT_SOURCES "")
foreach(module IN LISTS CLEAT_MODULES)
  file(GLOB module_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${module}/*.c")
  list(APPEND CLEAT_SOURCES ${module_sources})
endforeach()

# The fixture server of the wire tests also serves the session's fuzz target, the clients' unit tests, the
# end-to-end tests and the conformance suite.
file(GLOB CLEAT_FIXTURE_SOURCES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/wire/fixture*.c")
set(fuzz_session_MORE ${CLEAT_FIXTURE_SOURCES})
set(fuzz_mcp_http_MORE ${CLEAT_FIXTURE_SOURCES})
set(test_client_matrix_MORE ${CLEAT_FIXTURE_SOURCES})
# Parts of the program that stand alone.
set(test_bench_hist_MORE ${PROJECT_SOURCE_DIR}/cli/bench_hist.c)
set(test_bench_tally_MORE ${PROJECT_SOURCE_DIR}/cli/bench_tally.c ${PROJECT_SOURCE_DIR}/cli/bench_hist.c)
set(test_bench_reader_MORE ${PROJECT_SOURCE_DIR}/cli/bench_reader.c
                           ${PROJECT_SOURCE_DIR}/cli/bench_scan.c)
set(fuzz_bench_reader_MORE ${test_bench_reader_MORE})

file(GLOB CLEAT_PUBLIC_HEADERS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/cleat/*.h")

# What runs when a program starts, when something is registered or refused, but not for each message, is
# compiled for size: it is more than half of the code, and a program with the static library carries all
# of it.
set(CLEAT_COLD
    auth/tokens.c base/crypto.c base/lazy.c base/regex.c
    http/origin.c http/sse_reader.c json/canonical.c json/format.c
    protocol/describe.c protocol/headers.c protocol/seal.c
    rpc/call.c rpc/intake.c rpc/peer.c rpc/request.c
    run/accesslog.c run/cancelfd.c run/client.c run/client_asked.c run/client_attach.c
    run/client_connect.c run/client_inproc.c run/client_spawn.c run/http.c run/http_guard.c run/http_metrics.c run/main.c
    run/metrics.c run/pool.c run/reach.c run/runner.c run/stdio.c
    schema/compile.c schema/describe.c schema/dialect.c schema/explain.c schema/field.c
    schema/field_schema.c schema/field_table.c schema/form.c schema/format.c schema/format_alabel.c
    schema/format_host.c schema/format_time.c schema/keyword.c schema/locate.c schema/nearest.c
    schema/path.c schema/pattern.c schema/pattern_escape.c schema/pattern_unicode.c schema/reader.c
    schema/rules.c schema/set.c schema/show.c schema/signature.c schema/signature_print.c
    schema/wording.c
    server/add.c server/ask.c server/ask_api.c server/core.c server/entry.c server/lifecycle.c
    server/lists.c server/registry.c server/subscribe.c
    store/buckets.c store/events.c store/memory.c
    transport/http_accept.c transport/http_deadline.c transport/http_peers.c transport/http_server.c
    transport/listen.c transport/mcp_channel.c transport/mcp_old.c transport/policy.c
    transport/systemd.c transport/tls.c
    uri/address.c uri/chars.c uri/expand.c uri/match.c uri/reference.c uri/template.c)
list(TRANSFORM CLEAT_COLD PREPEND "${PROJECT_SOURCE_DIR}/src/")
set_source_files_properties(
  ${CLEAT_COLD} PROPERTIES COMPILE_OPTIONS
                           "$<$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>:-Os>")
