// The official Go SDK against our server over stdio, in every revision that it speaks.
package main

import (
	"fmt"
	"os"
)

var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const modern = "2026-07-28"

var caseRevisions []string

// suite registers cases of one revision.
type suite string

func (r suite) it(name string, run func(t *T)) {
	cases = append(cases, testCase{fmt.Sprintf("go, %s: %s", string(r), name), run})
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
	}
	runAll(func(i int) string { return caseRevisions[i] })
}
