#!/usr/bin/env bash
# Installs the build into an empty prefix and uses it from outside, the way a stranger would: with
# pkg-config and with find_package, shared and static, without the source or the build tree.
set -u

source=${CLEAT_SOURCE_DIR:?}
build=${CLEAT_BUILD_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
log=$work/log
unset DESTDIR LD_LIBRARY_PATH

n=0 failed=0
try() { # try TEXT COMMAND...
	local text=$1 verdict=ok
	shift
	"$@" >"$log" 2>&1 || verdict="not ok"
	echo "$verdict $((n += 1)) - $text"
	[[ $verdict == ok ]] || { failed=1 && sed 's/^/# /' "$log"; }
}

# The same for what needs the program, which may not be built.
try_program() { if [[ -e $prefix/bin/cleat ]]; then try "$@"; else echo "ok $((n += 1)) - $1 # SKIP there is no program"; fi; }

install_tree() { cmake --install "$build" --prefix "$prefix"; }

# The directory is asked of the installation itself: lib, or lib/<triplet>.
libdir() { dirname "$(find "$prefix" -name libcleat.so)"; }

# compile_and_run NAME STATIC-OPTION: flags from pkg-config alone
with_pkg_config() {
	local program=$work/$1 flags
	export PKG_CONFIG_PATH
	PKG_CONFIG_PATH=$(libdir)/pkgconfig
	flags=$(pkg-config $2 --cflags --libs cleat) || return 1
	echo "flags: $flags"
	# Static means libcleat.a; what it needs stays shared (that is all the distribution has). All of
	# the archive goes in, so that a library which pkg-config forgot is missed here.
	[[ $1 == shared ]] ||
		flags=${flags/-lcleat/-Wl,--whole-archive,-l:libcleat.a,--no-whole-archive}
	# shellcheck disable=SC2086 # flags are words
	${CC:-gcc} -std=c11 -Wall -Wextra -Werror -o "$program" "$source/tests/install/hello.c" $flags || return 1
	[[ $1 == shared ]] || ! readelf -d "$program" | grep -q 'NEEDED.*libcleat' || return 1
	LD_LIBRARY_PATH=$([[ $1 == shared ]] && libdir) "$program"
}

# A program may have functions of any name that the library uses inside: neither do they clash nor does the
# library call them. All of these names are taken here, by functions that end the program.
own_names() {
	local flags
	export PKG_CONFIG_PATH
	PKG_CONFIG_PATH=$(libdir)/pkgconfig
	flags=$(pkg-config --static --cflags --libs cleat) || return 1
	nm -g --defined-only "$(libdir)/libcleat.a" | sed -n 's/.* cleat__//p' | sort -u >"$work/names"
	grep -qx utf8_next "$work/names" && grep -qx field_write_schema "$work/names" && grep -qx arena_alloc "$work/names" ||
		return 1
	{ echo 'void abort(void);' && sed 's/.*/void &(void) { abort(); }/' "$work/names"; } >"$work/names.c"
	# shellcheck disable=SC2086 # flags are words
	${CC:-gcc} -std=c11 -fno-builtin -w -o "$work/own_names" "$source/examples/unit_test.c" "$work/names.c" \
		${flags/-lcleat/-l:libcleat.a} || return 1
	"$work/own_names"
}

# The header and a program in C++17, called by the installed cleat.
in_cpp() {
	local program=$work/greeter flags
	export PKG_CONFIG_PATH
	PKG_CONFIG_PATH=$(libdir)/pkgconfig
	flags=$(pkg-config --cflags --libs cleat) || return 1
	# shellcheck disable=SC2086 # flags are words
	${CXX:-g++} -std=c++17 -Wall -Wextra -Wpedantic -Werror -o "$program" "$source/examples/hello.cpp" $flags \
		-Wl,-rpath,"$(libdir)" || return 1
	[[ $("$prefix/bin/cleat" call -- "$program" -- greet name=Ann) == "Hello, Ann!" ]]
}

# What the guides say about examples/ can be tried with what is installed.
demonstration() {
	cp -r "$prefix/share/doc/cleat/examples" "$work" &&
		"$prefix/bin/cleat" serve --check "$work/examples/demo.json" &&
		"$prefix/bin/cleat" serve --check "$work/examples/serve/commands.json" &&
		[[ ! -e $work/examples/demo/shop.db ]] &&
		test -f "$prefix/share/doc/cleat/docs/serve.schema.json"
}

configure_package() {
	cp "$source/tests/install/"{CMakeLists.txt,hello.c} "$work" &&
		cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" &&
		cmake --build "$work/build"
}

# Neither the source tree nor the build tree may be remembered by what was installed (debug
# information apart, which names sources on purpose).
no_paths() {
	local file
	! readelf -d "$(libdir)/libcleat.so" | grep -E 'R(UN)?PATH' | grep -F -e "$source" -e "$build" || return 1
	for file in $(find "$prefix" -name '*.pc' -o -name '*.cmake'); do
		! grep -n -F -e "$source" -e "$build" "$file" || return 1
	done
}

all_headers() { diff <(ls "$source/include/cleat") <(ls "$prefix/include/cleat"); }

staged() {
	DESTDIR=$work/stage cmake --install "$build" --prefix /opt/cleat &&
		grep -x 'prefix=/opt/cleat' "$(find "$work/stage/opt/cleat" -name cleat.pc)"
}

# The program runs from where it is, and brings its man pages and completions.
program() {
	local page
	env -i PATH=/usr/bin:/bin "$prefix/bin/cleat" --version | grep '^cleat [0-9]' || return 1
	! readelf -d "$prefix/bin/cleat" | grep -E 'R(UN)?PATH' | grep -F -e "$source" -e "$build" || return 1
	for page in $("$prefix/bin/cleat" man --list); do
		grep -q '^\.TH' "$prefix/share/man/man1/$page.1" || return 1
	done
	grep -q _cleat "$prefix/share/bash-completion/completions/cleat" &&
		grep -q _cleat "$prefix/share/zsh/site-functions/_cleat" &&
		grep -q cleat "$prefix/share/fish/vendor_completions.d/cleat.fish"
}

echo 1..13
try "installs into an empty prefix" install_tree
try "every public header is installed" all_headers
try "pkg-config: shared" with_pkg_config shared ""
try "pkg-config: static" with_pkg_config static --static
try "a static program may have functions of the names that the library uses" own_names
try "find_package: both programs build" configure_package
try "find_package: shared" "$work/build/hello_shared"
try "find_package: static" "$work/build/hello_static"
try "nothing installed names the source or build tree" no_paths
try_program "the program runs, with its man pages and completions" program
try "DESTDIR stages under a directory, without it in any file" staged
try_program "C++17, called by the installed cleat" in_cpp
try_program "the demonstration is installed, without what it makes" demonstration
exit $failed
