package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a server process. Over stdio the SDK starts it, and it ends by itself when its input does;
// over HTTP it listens on a port of its own, and ends when it is asked to. It has to end with status 0,
// and to say nothing on standard error.
type Server struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	url    string // HTTP
	asked  bool
	said   chan struct{} // closed when all of stderr is there
}

func (t *T) start(o options) *Server {
	s := &Server{said: make(chan struct{})}
	s.cmd = exec.Command(filepath.Join(os.Getenv("CLEAT_BUILD_DIR"), "tests", "server_sdk"), o.args...)
	s.cmd.Env = append(os.Environ(), o.env...)
	if overHTTP {
		s.cmd.Args = append(s.cmd.Args, "--http", "127.0.0.1:0")
		pipe, err := s.cmd.StderrPipe()
		t.ok(err)
		t.ok(s.cmd.Start())
		lines := bufio.NewReader(pipe)
		first, _ := lines.ReadString('\n')
		_, url, found := strings.Cut(strings.TrimSpace(first), " listening on ")
		t.check(found, "the server did not start: %s", first)
		s.url = url
		go func() {
			io.Copy(&s.stderr, lines)
			close(s.said)
		}()
	} else {
		s.cmd.Stderr = &s.stderr
		close(s.said)
	}
	t.servers = append(t.servers, s)
	return s
}

// stop asks it to end, once: a second signal would end it at once.
func (s *Server) stop() {
	if !s.asked {
		s.cmd.Process.Signal(syscall.SIGTERM)
	}
	s.asked = true
}

// end: a list of what was not right about how it ended.
func (s *Server) end() (problems []string) {
	if s.url != "" {
		s.stop()
		killer := time.AfterFunc(2*waitTime, func() { s.cmd.Process.Kill() })
		<-s.said
		s.cmd.Wait()
		killer.Stop()
	}
	if s.cmd.ProcessState == nil {
		problems = append(problems, "the server is still there")
		s.cmd.Process.Kill()
	} else if !s.cmd.ProcessState.Success() { // by a signal, too: somebody lost patience
		problems = append(problems, fmt.Sprintf("the server ended with %v", s.cmd.ProcessState))
	}
	if s.stderr.Len() > 0 {
		problems = append(problems, "the server wrote to standard error: "+s.stderr.String())
	}
	return problems
}

// answer is what is worth knowing of an HTTP answer.
type answer struct {
	method  string
	status  int
	kind    string
	session string
}

// recorder sends requests, with a token if there is one, and notes what is answered.
type recorder struct {
	token   string
	mu      sync.Mutex
	answers []answer
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	if r.token != "" {
		q = q.Clone(q.Context())
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := http.DefaultTransport.RoundTrip(q)
	if err == nil {
		kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
		r.mu.Lock()
		r.answers = append(r.answers, answer{q.Method, response.StatusCode, kind, response.Header.Get("Mcp-Session-Id")})
		r.mu.Unlock()
	}
	return response, err
}

// all gives the answers to requests of a method; "": to any.
func (r *recorder) all(method string) (found []answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.answers {
		if method == "" || a.method == method {
			found = append(found, a)
		}
	}
	return found
}

func (r *recorder) last() answer {
	all := r.all("")
	return all[len(all)-1]
}
