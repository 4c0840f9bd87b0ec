# Cleat's front door. `make` builds, `make test` tests, `make help` lists the rest. Every target
# installs what it needs itself (scripts/setup, quick when nothing is missing) and leaves its
# results in build/<preset>. The real build is CMakeLists.txt.

PREFIX  ?= /usr/local
DESTDIR ?=
PRESET  ?= debug
SECONDS ?= 60
TARGET  ?=

# Configured every time (a fraction of a second): setup may just have installed what an earlier
# configuration did not find.
configure = cmake --preset $(1) $(call fresh,$(1)) --log-level=WARNING >/dev/null
build = $(call configure,$(1)) && cmake --build build/$(1)
# A tree that was copied or moved has what was configured for the old place: that is done afresh.
fresh = $(if $(filter-out $(realpath .),$(realpath $(call home,$(1))) $(if $(wildcard $(call home,$(1))),,gone)),$(if \
	$(wildcard build/$(1)/CMakeCache.txt),--fresh))
home = $(shell sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' build/$(1)/CMakeCache.txt 2>/dev/null)

.PHONY: all run test asan tsan valgrind coverage lint fuzz torture install clean help

all: ## build the library and the examples (build/release)
	@scripts/setup --for build
	@$(call build,release) --target product

run: all ## build, and serve examples/demo.json on http://127.0.0.1:7331/mcp
	@exec build/release/cleat serve examples/demo.json --http 127.0.0.1:7331 --any-port --banner

test: ## build (PRESET=debug) and run the whole test suite
	@scripts/setup --for test
	@scripts/setup --for e2e || true
	@$(call build,$(PRESET))
	@scripts/run-tests build/$(PRESET)

asan: ## the test suite under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory test PRESET=asan

tsan: ## the test suite under ThreadSanitizer
	@$(MAKE) --no-print-directory test PRESET=tsan

valgrind: ## unit and wire tests under valgrind (memory, leaks, file descriptors)
	@scripts/setup --for test
	@$(call build,debug)
	@scripts/run-tests build/debug --valgrind

coverage: ## the test suite with line counts; summary and build/coverage/html
	@scripts/setup --for coverage
	@scripts/coverage

lint: ## formatting, layers, symbols, docs, headers, cppcheck, clang-tidy, -Werror builds
	@scripts/setup --for lint
	@scripts/lint

fuzz: ## fuzz every target for SECONDS=60, or one TARGET=name
	@scripts/setup --for fuzz
	@scripts/fuzz $(SECONDS) $(TARGET)

torture: ## unit, wire, HTTP and client tests with each allocation failing (FULL=1: really each)
	@scripts/setup --for test
	@$(call build,torture) --target torture
	@scripts/torture build/torture

# A target whose script is not there yet does not exist (and is not listed).
ifneq ($(wildcard scripts/conformance),)
.PHONY: conformance
conformance: ## the official conformance suite
	@scripts/setup --for conformance
	@$(call build,release) --target conformance_server conformance_client
	@scripts/conformance build/release
endif
ifneq ($(wildcard scripts/interop),)
.PHONY: interop
interop: ## against the official SDKs
	@scripts/setup --for e2e
	@$(call build,release) --target product tests/server_sdk tests/client_driver
	@scripts/interop build/release
endif
ifneq ($(wildcard scripts/bench),)
.PHONY: bench
bench: ## measure
	@scripts/setup --for build
	@scripts/setup --for bench || true
	@$(call build,release) --target product benchmarks
	@scripts/bench build/release
	@scripts/beside-wrk build/release
endif
ifneq ($(wildcard scripts/load),)
.PHONY: load
load: ## 10,000 streams, a million refusals, 5,000 slow clients, 10,000 crashes, 100,000 files
	@scripts/setup --for test
	@$(call build,release) --target conformance_server bench_load_http test_child_cycles \
		bench_load_folder cleat
	@scripts/load build/release
endif
install: ## install into $(DESTDIR)$(PREFIX)
	@scripts/setup --for build
	@$(call configure,release) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build build/release --target product
	@DESTDIR=$(DESTDIR) cmake --install build/release

clean: ## remove everything that was built (not .deps/)
	rm -rf build

absent = $(foreach t,conformance:conformance interop:interop bench:bench load:load,\
	$(if $(wildcard scripts/$(lastword $(subst :, ,$(t)))),,$(firstword $(subst :, ,$(t)))))

help: ## this list
	@awk -v absent=" $(absent) " -F ':[^#]*## ' '/^[a-z]+:.*## / && !index(absent, " " $$1 " ") \
		{ printf "  make %-12s %s\n", $$1, $$2 }' Makefile
