// The official Go SDK against our server, in every revision that it speaks: over stdio or, with the
// argument http, over Streamable HTTP (HTTP+SSE for 2024-11-05).
package main

import (
	"fmt"
	"os"
)

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const modern = "2026-07-28"

var overHTTP = len(os.Args) > 1 && os.Args[1] == "http"

var caseRevisions []string

// suite registers cases of one revision.
type suite string

func (r suite) it(name string, run func(t *T)) {
	sdk := "go"
	if overHTTP {
		sdk = "go http"
	}
	cases = append(cases, testCase{fmt.Sprintf("%s, %s: %s", sdk, string(r), name), run})
	caseRevisions = append(caseRevisions, string(r))
}

// since registers a case of a revision and those after it.
func (r suite) since(first, name string, run func(t *T)) {
	if string(r) >= first {
		r.it(name, run)
	}
}

func main() {
	if os.Getenv("CLEAT_BUILD_DIR") == "" {
		fmt.Fprintln(os.Stderr, "CLEAT_BUILD_DIR says where the server programs are; set it")
		os.Exit(2)
	}
	for _, revision := range revisions {
		r := suite(revision)
		r.connecting()
		r.lists()
		r.calls()
		r.contents()
		r.asks()
		r.changes()
		if revision < modern {
			r.legacy()
		} else {
			r.modern()
		}
		if overHTTP {
			r.network()
		}
	}
	runAll(func(i int) string { return caseRevisions[i] })
}
