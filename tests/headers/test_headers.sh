#!/usr/bin/env bash
# Every public header compiles alone, without a warning: as C99 and C11 and as C++11 and C++17, cleat.hpp as
# C++17 and C++20, with exceptions and without; and no public struct ends in padding.
# The compilers: $CLEAT_HEADER_CC and $CLEAT_HEADER_CXX, lists; default gcc and g++, and clang where it is.
set -u

root=${CLEAT_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root" || exit 1
warnings=(-pedantic-errors -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
# -fsyntax-only of a header itself would warn of "pragma once in main file" and the like and would
# not catch an empty translation unit's problems: include it twice from a small file instead.
unit() { printf '#include <cleat/%s>\n#include <cleat/%s>\ntypedef int not_empty;\n' "$1" "$1"; }

# For each `typedef struct X { ...; last; } X;`: nothing lies behind its last member. (A compiler need not
# clear padding, and what is not known and not zero is refused: docs/stability.md.)
ends() {
	printf '#include <cleat/cleat.h>\n'
	cat include/cleat/*.h | sed 's|/\*.*\*/||; /\/\*/,/\*\//d' | awk '
		/^typedef struct cleat_[a-z_]+ \{/ { inside = $3 }
		inside && /;/ { last = $0 }
		inside && /^\}/ { inside = "" }
		/^\} cleat_[a-z_]+;/ {
			type = $2; sub(/;/, "", type)
			if (type in seen) next
			seen[type] = 1
			print type, member
		}
		inside && /;/ {
			member = last
			sub(/;.*/, "", member); sub(/\[.*/, "", member)
			if (match(member, /\(\*[a-z_]+\)/)) member = substr(member, RSTART + 2, RLENGTH - 3)
			else sub(/.*[ *]/, "", member)
		}' | while read -r type member; do
		printf '_Static_assert(offsetof(%s, %s) + sizeof(((%s *)0)->%s) == sizeof(%s), "%s ends in padding");\n' \
			"$type" "$member" "$type" "$member" "$type" "$type"
	done
}

headers=$(cd include/cleat && ls -- *.h)
compilers() { for c; do command -v "$c" >/dev/null && echo "$c"; done; }
read -ra cc <<<"${CLEAT_HEADER_CC:-$(compilers gcc clang | tr '\n' ' ')}"
read -ra cxx <<<"${CLEAT_HEADER_CXX:-$(compilers g++ clang++ | tr '\n' ' ')}"

n=0 failed=0
try() { # try TEXT COMPILER OPTION...: the unit is standard input
	local text=$1 output verdict=ok
	shift
	output=$("$@" "${warnings[@]}" -Iinclude -fsyntax-only - 2>&1) || verdict="not ok"
	[[ $verdict == ok ]] || failed=1
	echo "$verdict $((n += 1)) - $text"
	[[ -z $output ]] || sed 's/^/# /' <<<"$output"
}

for header in $headers; do
	for compiler in "${cc[@]}"; do
		for std in c99 c11; do try "$header alone: $compiler $std" "$compiler" -std=$std -xc < <(unit "$header"); done
	done
	for compiler in "${cxx[@]}"; do
		for std in c++11 c++17; do try "$header alone: $compiler $std" "$compiler" -std=$std -xc++ < <(unit "$header"); done
	done
done
for compiler in "${cc[@]}"; do
	try "no struct ends in padding: $compiler" "$compiler" -std=c11 -xc < <(ends)
done
[[ $(ends | grep -c _Static_assert) -ge 20 ]] || { echo "# the structs were not found" && failed=1; }
# What is deprecated says so, unless it is told not to.
warns() { local text=$1 && shift && "$@" 2>&1 | grep -q "$text"; }
deprecated() { printf '#include <cleat/base.h>\nCLEAT_DEPRECATED("use new") int old(void);\nint main(void) { return old(); }\n'; }
for compiler in "${cc[@]}"; do
	try "deprecation is said: $compiler" warns 'use new' "$compiler" -std=c99 -xc < <(deprecated)
	try "and silenced: $compiler" "$compiler" -std=c99 -DCLEAT_NO_DEPRECATED -xc < <(deprecated)
done
for compiler in "${cxx[@]}"; do
	for std in c++17 c++20; do
		for exceptions in -fexceptions -fno-exceptions; do
			try "cleat.hpp: $compiler $std $exceptions" "$compiler" -std=$std $exceptions -xc++ < <(unit cleat.hpp)
		done
	done
done
echo "1..$n"
exit $failed
