package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Session is one connection to a server. Ending it checks how the server ends, when it is its own.
type Session struct {
	*mcp.ClientSession
	t       *T
	client  *mcp.Client
	server  *Server
	seen    *recorder // HTTP
	ended   bool
	settled int

	mu    sync.Mutex
	cond  *sync.Cond
	notes []note
}

type note struct {
	method string
	params any
}

func (s *Session) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
}

func (s *Session) push(method string, params any) {
	s.mu.Lock()
	s.notes = append(s.notes, note{method, params})
	s.mu.Unlock()
	s.changed()
}

// of gives what was told under a method; for until(), so the lock is held.
func (s *Session) of(method string) (found []any) {
	for _, n := range s.notes {
		if n.method == method {
			found = append(found, n.params)
		}
	}
	return found
}

func (s *Session) take(method string, n int) any {
	var found any
	s.t.until(s, fmt.Sprintf("%s number %d", method, n), func() bool {
		all := s.of(method)
		if len(all) < n {
			return false
		}
		found = all[n-1]
		return true
	})
	return found
}

func (s *Session) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of(method))
}

// What a case may set for a session.
type options struct {
	env       []string
	args      []string
	server    *Server // one that runs already, and goes on to
	url       string  // another way to it
	token     string
	elicit    func(*mcp.ElicitParams) (*mcp.ElicitResult, error)
	elicitCtx func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error)
	urls      bool
	sample    func(*mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)
	tools     func(*mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error)
	roots     []*mcp.Root
	byHand    bool
	noLists   bool
}

func (o options) client(s *Session) *mcp.ClientOptions {
	c := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.push("resources/updated", r.Params.URI)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			s.push("message", *r.Params)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.push("progress", *r.Params)
		},
		ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
			s.push("elicitation/complete", r.Params.ElicitationID)
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: o.byHand},
	}
	if !o.noLists {
		c.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { s.push("tools", nil) }
		c.PromptListChangedHandler = func(context.Context, *mcp.PromptListChangedRequest) { s.push("prompts", nil) }
		c.ResourceListChangedHandler = func(context.Context, *mcp.ResourceListChangedRequest) { s.push("resources", nil) }
	}
	if o.roots != nil {
		c.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	}
	if o.urls {
		c.Capabilities.Elicitation = &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
	}
	if o.elicit != nil {
		o.elicitCtx = func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) { return o.elicit(p) }
	}
	if o.elicitCtx != nil {
		c.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return o.elicitCtx(ctx, r.Params)
		}
	}
	if o.sample != nil {
		c.CreateMessageHandler = func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return o.sample(r.Params)
		}
	}
	if o.tools != nil {
		c.CreateMessageWithToolsHandler = func(_ context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			return o.tools(r.Params)
		}
	}
	return c
}

// transport is the one that the revision has, to the server of the session.
func (s *Session) transport(o options) mcp.Transport {
	if s.server.url == "" {
		return &mcp.CommandTransport{Command: s.server.cmd}
	}
	url := s.server.url
	if o.url != "" {
		url = o.url
	}
	s.seen = &recorder{token: o.token}
	client := &http.Client{Transport: s.seen}
	if s.t.revision == "2024-11-05" {
		return &mcp.SSEClientTransport{Endpoint: strings.Replace(url, "/mcp", "/sse", 1), HTTPClient: client, MaxEventSize: -1}
	}
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client}
}

// tryOpen connects, in the revision of the case.
func (t *T) tryOpen(o options) (*Session, error) {
	s := &Session{t: t, server: o.server}
	s.cond = sync.NewCond(&s.mu)
	if s.server == nil {
		s.server = t.start(o)
	}
	s.client = mcp.NewClient(&mcp.Implementation{Name: "interop-go", Version: "1.0"}, o.client(s))
	if len(o.roots) > 0 {
		s.client.AddRoots(o.roots...)
	}
	var err error
	s.ClientSession, err = s.client.Connect(t, s.transport(o),
		&mcp.ClientSessionOptions{ProtocolVersion: t.revision})
	if err == nil {
		t.sessions = append(t.sessions, s)
	}
	return s, err
}

func (t *T) open(o options) *Session {
	s, err := t.tryOpen(o)
	t.ok(err)
	return s
}

// end closes; a list of what was not right. Once.
func (s *Session) end() (problems []string) {
	if s.ended {
		return nil
	}
	s.ended = true
	if err := s.Close(); err != nil && !s.server.asked {
		problems = append(problems, fmt.Sprintf("closing: %v", err))
	}
	return problems
}

type object = map[string]any

func (s *Session) tryCall(ctx context.Context, name string, args any) (*mcp.CallToolResult, error) {
	return s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
}

func (s *Session) call(name string, args any) *mcp.CallToolResult {
	result, err := s.tryCall(s.t, name, args)
	s.t.ok(err)
	return result
}

func (s *Session) text(name string, args any) string { return text(s.call(name, args)) }

func text(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if block, ok := c.(*mcp.TextContent); ok {
			all = append(all, block.Text)
		}
	}
	return strings.Join(all, "\n")
}

var parkUntilCancelled = &mcp.CallToolParams{Name: "park_until_cancelled", Arguments: object{"key": "k"}}

func parkWithProgress() *mcp.CallToolParams {
	params := &mcp.CallToolParams{Name: "park", Arguments: object{"key": "k"}}
	params.SetProgressToken("token")
	return params
}

// outcome is what a call came to.
type outcome struct {
	text string
	err  error
}

// background makes a call beside others.
func (s *Session) background(ctx context.Context, params *mcp.CallToolParams) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		result, err := s.CallTool(ctx, params)
		if err != nil {
			done <- outcome{err: err}
		} else {
			done <- outcome{text: text(result)}
		}
	}()
	return done
}

// together makes 50 calls at once; what that gives waits for their answers.
func (s *Session) together(name string, args func(int) object) func() []string {
	var calls []chan outcome
	for i := range 50 {
		calls = append(calls, s.background(s.t, &mcp.CallToolParams{Name: name, Arguments: args(i)}))
	}
	return func() (answers []string) {
		for _, call := range calls {
			answers = append(answers, (<-call).text)
		}
		return answers
	}
}

// parked waits until a call waits in the server.
func (s *Session) parked(key string) {
	for s.text("parked", object{"key": key}) == "no" {
	}
}

// settle: what the server had to say before this has come.
func (s *Session) settle() {
	s.call("echo", object{"text": "settled"})
	s.call("echo", object{"text": "settled"})
	if s.server.url == "" || s.t.revision == modern {
		return
	}
	// What was not asked for comes on another connection, in an order of its own.
	s.settled++
	mark := fmt.Sprint("settled ", s.settled)
	s.t.ok(s.SetLoggingLevel(s.t, &mcp.SetLoggingLevelParams{Level: "warning"}))
	s.call("announce", object{"text": mark})
	s.t.until(s, mark, func() bool {
		for _, m := range s.of("message") {
			if m.(mcp.LoggingMessageParams).Data == any(mark) {
				return true
			}
		}
		return false
	})
}

// refused checks the JSON-RPC code of an error, and gives it.
func (t *T) refused(err error, code int64) *jsonrpc.Error {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		t.failf("not a JSON-RPC error: %v", err)
	}
	t.check(e.Code == code, "%d, not %d: %s", e.Code, code, e.Message)
	return e
}

// plain is the JSON of a value, as maps and lists.
func (t *T) plain(v any) (out object) {
	data, err := json.Marshal(v)
	t.ok(err)
	t.ok(json.Unmarshal(data, &out))
	return out
}

func (t *T) parse(s string) (out any) {
	t.ok(json.Unmarshal([]byte(s), &out))
	return out
}
