#!/usr/bin/env bash
# Every public header compiles alone, as C11 and as C++17, without a warning.
# The compilers: $CLEAT_HEADER_CC and $CLEAT_HEADER_CXX, lists; default gcc and g++.
set -u

root=${CLEAT_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 1
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# -fsyntax-only of a header itself would warn of "pragma once in main file" and the like and would
# not catch an empty translation unit's problems: include it twice from a small file instead.
unit() { printf '#include <cleat/%s>\n#include <cleat/%s>\ntypedef int not_empty;\n' "$1" "$1"; }

headers=$(cd include/cleat && ls -- *.h)
read -ra cc <<<"${CLEAT_HEADER_CC:-gcc}"
read -ra cxx <<<"${CLEAT_HEADER_CXX:-g++}"
set -- $headers
echo "1..$(($# * (${#cc[@]} + ${#cxx[@]})))"

n=0 failed=0
try() { # try HEADER COMPILER OPTION...
	local header=$1 output verdict=ok
	shift
	output=$(unit "$header" | "$@" "${warnings[@]}" -Iinclude -fsyntax-only - 2>&1) || verdict="not ok"
	[[ $verdict == ok ]] || failed=1
	echo "$verdict $((n += 1)) - $header alone: $1 $2"
	[[ -z $output ]] || sed 's/^/# /' <<<"$output"
}

for header in $headers; do
	for compiler in "${cc[@]}"; do try "$header" "$compiler" -std=c11 -xc; done
	for compiler in "${cxx[@]}"; do try "$header" "$compiler" -std=c++17 -xc++; done
done
exit $failed
