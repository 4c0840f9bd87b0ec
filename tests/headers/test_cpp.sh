#!/usr/bin/env bash
# cpp.cpp, which uses <cleat/cleat.hpp>, compiled and run with every C++ compiler that is there, with
# exceptions and without. Its output is TAP; here each program is one test.
set -u

source=${CLEAT_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${CLEAT_BUILD_DIR:-$source/build/debug}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

n=0 failed=0
for compiler in g++ clang++; do
	command -v "$compiler" >/dev/null || continue
	for mode in -fexceptions -fno-exceptions; do
		verdict=ok
		{
			"$compiler" -std=c++17 $mode -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$source/include" \
				-o "$work/cpp" "$source/tests/headers/cpp.cpp" -L"$build" -lcleat -Wl,-rpath,"$build" &&
				"$work/cpp"
		} >"$work/log" 2>&1 || verdict="not ok"
		[[ $verdict == ok ]] || failed=1
		echo "$verdict $((n += 1)) - $compiler $mode"
		[[ $verdict == ok ]] || sed 's/^/# /' "$work/log"
	done
done
[[ $n -gt 0 ]] || echo "ok $((n += 1)) - cleat.hpp # SKIP no C++ compiler"
echo "1..$n"
exit $failed
