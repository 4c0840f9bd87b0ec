#!/usr/bin/env bash
# The library as small and other machines get it: without the program, minimal (a server on a wire that needs yyjson
# alone), in programs without any shared library, and for another processor. Each is built in a directory of its
# own, installed, and linked as a user would.
set -u

source=${CLEAT_SOURCE_DIR:?}
build=${CLEAT_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
unset DESTDIR LD_LIBRARY_PATH
# Bytes of code and data that the smallest server may have; docs/guides/linking.md says so, too.
limit=300000

n=0 failed=0
try() { # try TEXT COMMAND...
	local text=$1 verdict=ok
	shift
	"$@" >"$log" 2>&1 || verdict="not ok"
	echo "$verdict $((n += 1)) - $text"
	if [[ $verdict == ok ]]; then grep '^# ' "$log"; else failed=1 && sed 's/^/# /' "$log"; fi
	return 0
}
skip() { echo "ok $((n += 1)) - $1 # SKIP $2"; }

# variant NAME OPTIONS...: configured, built and installed into $work/NAME
variant() {
	local name=$1
	shift
	cmake -S "$source" -B "$work/build-$name" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=MinSizeRel "$@" \
		>"$work/quiet" && cmake --build "$work/build-$name" --target product >>"$work/quiet" &&
		cmake --install "$work/build-$name" --prefix "$work/$name" >>"$work/quiet" || { tail -n 30 "$work/quiet" && false; }
}
flags() { PKG_CONFIG_PATH=$(dirname "$(find "$work/$1" -name cleat.pc)") pkg-config "${@:2}"; }
# adds COMMAND...: a server on standard input and output adds two numbers
adds() {
	echo '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' |
		"$@" | grep '"id":7.*"text":"3"'
}

alone() {
	cmake -S "$source" -B "$work/build-alone" -G Ninja --log-level=WARNING -DCLEAT_PROGRAM=OFF -DCLEAT_TESTS=OFF &&
		! grep -E '^CLEAT_(SQLITE|MAGIC|SECCOMP|YAML|CMOCKA)' "$work/build-alone/CMakeCache.txt" &&
		! ninja -C "$work/build-alone" -t targets all | grep -E '/program/|^tests/'
}

minimal() { variant minimal -DCLEAT_MINIMAL=ON; }
needs_yyjson_alone() {
	! nm -u "$work/build-minimal/libcleat.a" 2>/dev/null | grep -E ' (uv_|llhttp|dlopen|pcre2|EVP_|curl_|socket$)'
}
hello_wire() { # without the linker's help to leave out what is not called, so that nothing is missing
	# shellcheck disable=SC2046 # words
	${CC:-gcc} -std=c11 -Os -o "$work/hello" "$source/bench/hello_wire.c" $(flags minimal --static --cflags --libs cleat) &&
		adds "$work/hello"
}
small() {
	local bytes
	# shellcheck disable=SC2046 # words
	${CC:-gcc} -std=c11 -Os -s -Wl,--gc-sections -o "$work/small" "$source/bench/hello_wire.c" \
		$(flags minimal --static --cflags --libs cleat) || return 1
	bytes=$(size "$work/small" | awk 'NR == 2 { print $1 + $2 }')
	echo "# $bytes bytes of code and data, limit $limit"
	[[ $bytes -le $limit ]]
}

static_flags() {
	PKG_CONFIG_PATH=$(dirname "$(find "$work/whole" -name cleat-static.pc)") pkg-config --cflags --libs cleat-static
}
static_stdio() {
	# shellcheck disable=SC2046 # words
	${CC:-gcc} -std=c11 -static -o "$work/static" "$source/bench/hello_stdio.c" $(static_flags) &&
		! readelf -lW "$work/static" | grep INTERP && adds "$work/static"
}
static_http() {
	local url server status
	# shellcheck disable=SC2046 # words
	${CC:-gcc} -std=c11 -static -o "$work/http" "$source/examples/hello.c" $(static_flags) || return 1
	mkfifo "$work/said"
	"$work/http" --http 127.0.0.1:0 2>"$work/said" &
	server=$!
	url=$(sed -n '/listening on/{s/.*listening on //p;q}' "$work/said")
	[[ $("$build/cleat" call "$url" add a=1 b=2) == 3 ]]
	status=$?
	kill "$server"
	wait "$server"
	return $status
}

cross() {
	variant arm --toolchain "$source/cmake/aarch64-linux-gnu.cmake" -DCLEAT_MINIMAL=ON -DCLEAT_LTO=OFF \
		-DCLEAT_YYJSON_SOURCE="$source/.deps/src/yyjson" &&
		! nm -g --defined-only "$work/build-arm/libcleat.a" 2>/dev/null | awk 'NF == 3 && $3 !~ /^(cleat_|_)/' | grep . &&
		# shellcheck disable=SC2046 # words
		aarch64-linux-gnu-gcc -std=c11 -Os -static -o "$work/arm-hello" "$source/bench/hello_wire.c" \
			$(flags arm --static --cflags --libs cleat) && readelf -h "$work/arm-hello" | grep AArch64
}
cross_runs() { adds qemu-aarch64 "$work/arm-hello"; }

echo 1..8
try "the library alone looks for nothing that only the program needs" alone
try "a minimal build" minimal
try "needs nothing but yyjson" needs_yyjson_alone
try "and serves on a wire" hello_wire
try "in few bytes" small

cmake --install "$build" --prefix "$work/whole" >"$log" 2>&1
if [[ -n $(find "$work/whole" -name cleat-static.pc) ]]; then
	try "a program without any shared library: stdio" static_stdio
	if [[ -x $build/cleat ]]; then
		try "a program without any shared library: HTTP" static_http
	else
		skip "a program without any shared library: HTTP" "there is no program cleat to call it"
	fi
else
	skip "a program without any shared library: stdio" "there is no archive of yyjson (scripts/setup --for static)"
	skip "a program without any shared library: HTTP" "there is no archive of yyjson (scripts/setup --for static)"
fi
if ! command -v aarch64-linux-gnu-gcc >/dev/null || [[ ! -e $source/.deps/src/yyjson/yyjson.c ]]; then
	skip "a minimal build for aarch64" "there is no cross compiler (scripts/setup --for cross)"
elif command -v qemu-aarch64 >/dev/null; then
	both() { cross && cross_runs; }
	try "a minimal build for aarch64, run by qemu" both
else
	try "a minimal build for aarch64 (there is no qemu-aarch64 to run it)" cross
fi
exit $failed
