package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ---- only over a network: sessions with ids, connections that break, several clients, tokens ------

// way is a way to a server that can be cut: what goes through it is passed on, until it is not.
type way struct {
	url      string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func (t *T) lay(s *Server) *way {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	t.ok(err)
	_, after, _ := strings.Cut(s.url, "//")
	host, path, _ := strings.Cut(after, "/")
	w := &way{url: fmt.Sprintf("http://%s/%s", listener.Addr(), path), listener: listener}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", host)
			if err != nil {
				near.Close()
				continue
			}
			w.mu.Lock()
			w.open = append(w.open, near, far)
			w.mu.Unlock()
			pass := func(to, from net.Conn) {
				io.Copy(to, from)
				to.Close()
			}
			go pass(far, near)
			go pass(near, far)
		}
	}()
	return w
}

func (w *way) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		c.Close()
	}
	w.open = nil
}

// status is that of a request that no SDK would make.
func (t *T) status(s *Server, method, session string) int {
	body := io.Reader(nil)
	if method == "POST" {
		body = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	q, err := http.NewRequest(method, s.url, body)
	t.ok(err)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Mcp-Session-Id", session)
	response, err := http.DefaultClient.Do(q)
	t.ok(err)
	response.Body.Close()
	return response.StatusCode
}

const token = "correct-horse-battery-staple"

func (r suite) network() {
	hasSessions := r > "2025" && r < modern

	if hasSessions {
		r.it("a session has an id, and is over when its client closes", func(t *T) {
			s := t.open(options{})
			other := t.open(options{server: s.server})
			id := other.ID()
			t.check(id != "" && id != s.ID(), "ids: %s, %s", id, s.ID())
			t.same(t.status(s.server, "POST", id), 200)
			t.same(len(other.end()), 0)
			t.same(other.seen.last().method, "DELETE")
			t.same(t.status(s.server, "POST", id), 404)
			t.same(s.text("echo", object{"text": "alive"}), "alive")
		})
		r.it("a client whose session is not there any more is told so", func(t *T) {
			s := t.open(options{})
			t.same(t.status(s.server, "DELETE", s.ID()), 204)
			_, err := s.tryCall(t, "echo", object{"text": "x"})
			t.check(err != nil && s.seen.last().status == 404, "%v", err)
			s.ended = true // it cannot be ended any more
		})
		r.it("a call whose connection breaks is answered on another one", func(t *T) {
			s := t.open(options{})
			w := t.lay(s.server)
			defer w.listener.Close()
			cut := t.open(options{server: s.server, url: w.url})
			done := cut.background(t, parkWithProgress())
			s.parked("k")
			s.call("step", object{"key": "k", "done": 1, "total": 2})
			cut.take("progress", 1)
			w.cut()
			s.call("release", object{"key": "k"})
			said := <-done
			t.ok(said.err)
			t.same(said.text, "parked k")
		})
	}
	if r == "2025-11-25" {
		r.it("a client that is sent away comes back for the answer", func(t *T) {
			s := t.open(options{})
			t.same(s.text("test_reconnection", nil), "Reconnection test completed")
			t.same(len(s.seen.all("GET")), 2) // the one that listens, and this one
		})
	}
	if r > "2025" {
		r.it("an answer alone is JSON, one with something before it an event stream", func(t *T) {
			s := t.open(options{noLists: true})
			for _, c := range []struct {
				token any
				kind  string
			}{{nil, "application/json"}, {"t", "text/event-stream"}} {
				params := &mcp.CallToolParams{Name: "progress", Arguments: object{"steps": []int{1, 2}}}
				if c.token != nil {
					params.SetProgressToken(c.token)
				}
				_, err := s.CallTool(t, params)
				t.ok(err)
				posts := s.seen.all("POST")
				t.same(posts[len(posts)-1].kind, c.kind)
			}
		})
	}
	if r == modern {
		r.it("no session is made", func(t *T) {
			s := t.open(options{noLists: true})
			s.call("echo", object{"text": "x"})
			for _, a := range s.seen.all("") {
				t.same(a, answer{"POST", 200, "application/json", ""})
			}
		})
		r.it("a call whose connection breaks is cancelled", func(t *T) {
			s := t.open(options{noLists: true})
			w := t.lay(s.server)
			defer w.listener.Close()
			cut := t.open(options{server: s.server, url: w.url, noLists: true})
			done := cut.background(t, parkUntilCancelled)
			s.parked("k")
			w.cut()
			t.check((<-done).err != nil, "the call succeeded")
			for s.text("parked", object{"key": "k"}) == "yes" {
			}
		})
		r.it("arguments that a header repeats arrive, whatever characters they have", func(t *T) {
			s := t.open(options{})
			s.listed("tools") // what is repeated stands there
			for _, region := range []string{"us-west1", "Köln", " spaced ", "=?base64?x?=", ""} {
				t.same(s.text("test_x_mcp_header", object{"region": region}), "region="+region)
			}
		})
	}
	r.it("of two clients each is told what it asked for, and no more", func(t *T) {
		s := t.open(options{})
		other := t.open(options{server: s.server})
		t.ok(s.Subscribe(t, &mcp.SubscribeParams{URI: watched}))
		s.settle()
		other.call("touch", object{"uri": watched})
		s.take("resources/updated", 1)
		other.settle()
		t.same(other.count("resources/updated"), 0)
	})
	r.it("who has a token is served, and who has none, or a wrong one, is not", func(t *T) {
		file, err := os.CreateTemp("", "interop")
		t.ok(err)
		defer os.Remove(file.Name())
		fmt.Fprintf(file, "ann %s\n", token)
		t.ok(file.Close())
		s := t.open(options{args: []string{"--token-file", file.Name()}, token: token})
		t.same(s.text("echo", object{"text": "in"}), "in")
		for _, wrong := range []string{"", token + "s"} {
			other, err := t.tryOpen(options{server: s.server, token: wrong})
			t.check(err != nil, "was let in")
			t.same(other.seen.last().status, 401)
		}
	})
}
