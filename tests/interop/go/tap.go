// Runs cases one after the other and speaks TAP on standard output. Every case has a deadline, so that
// a server that never answers is a failure with a name.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	caseTime = 30 * time.Second
	waitTime = 10 * time.Second
)

type testCase struct {
	name string
	run  func(t *T)
}

var cases []testCase

// T is what a case gets: whom to talk to, and how to fail.
type T struct {
	context.Context
	revision string
	sessions []*Session
	servers  []*Server
}

type failure struct{ text string }

func (t *T) failf(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

func (t *T) ok(err error) {
	if err != nil {
		t.failf("%v", err)
	}
}

func (t *T) check(good bool, format string, args ...any) {
	if !good {
		t.failf(format, args...)
	}
}

// Compares by how they print, which is enough for what the cases compare.
func (t *T) same(got, want any) {
	g, w := fmt.Sprintf("%#v", got), fmt.Sprintf("%#v", want)
	t.check(g == w, "got  %s\nwant %s", g, w)
}

// until waits for a condition; what changes it calls changed().
func (t *T) until(s *Session, what string, condition func() bool) {
	deadline := time.AfterFunc(waitTime, s.changed)
	defer deadline.Stop()
	began := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !condition() {
		if time.Since(began) >= waitTime {
			t.failf("%s did not come", what)
		}
		s.cond.Wait()
	}
}

func runCase(c testCase, revision string) (problems []string) {
	ctx, cancel := context.WithTimeout(context.Background(), caseTime)
	defer cancel()
	t := &T{Context: ctx, revision: revision}
	done := make(chan []string, 1)
	go func() {
		var found []string
		defer func() {
			if r := recover(); r != nil {
				f, expected := r.(failure)
				if !expected {
					panic(r)
				}
				found = append(found, f.text)
			}
			for _, s := range t.sessions {
				found = append(found, s.end()...)
			}
			for _, s := range t.servers {
				found = append(found, s.end()...)
			}
			done <- found
		}()
		c.run(t)
	}()
	select {
	case problems = <-done:
	case <-time.After(caseTime + waitTime):
		problems = []string{"the case took too long"}
	}
	return problems
}

func runAll(revisionOf func(int) string) {
	failed := false
	fmt.Printf("1..%d\n", len(cases))
	for i, c := range cases {
		problems := runCase(c, revisionOf(i))
		word := "ok"
		if len(problems) > 0 {
			word, failed = "not ok", true
		}
		fmt.Printf("%s %d - %s\n", word, i+1, c.name)
		for _, p := range problems {
			fmt.Println("# " + strings.ReplaceAll(p, "\n", "\n# "))
		}
	}
	if failed {
		os.Exit(1)
	}
}
