package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ---- what the server asks; the SDK hides in which way -----------------------------------------

type elicit = func(*mcp.ElicitParams) (*mcp.ElicitResult, error)

func accept(content object) elicit {
	return func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
}

// either gives one of two contents, by a word of the question.
func either(word string, with, without object) elicit {
	return func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if strings.Contains(p.Message, word) {
			return accept(with)(p)
		}
		return accept(without)(p)
	}
}

func say(words string) func(*mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
	return func(*mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Model: "small-1", Role: "assistant",
			Content: &mcp.TextContent{Text: words}}, nil
	}
}

// cannot checks that the server knows that the client cannot be asked this.
func (s *Session) cannot(name string, args any) {
	result, err := s.tryCall(s.t, name, args)
	if s.t.revision == modern {
		s.t.refused(err, -32021)
		return
	}
	s.t.ok(err)
	s.t.check(result.IsError, "it did: %s", text(result))
}

func (r suite) asks() {
	profile := object{"name": "Ann", "mail": "ann@example.com", "age": 30, "color": "green", "member": false}

	r.since("2025-06-18", "a form is shown with its schema, and its answer reaches the tool", func(t *T) {
		var asked *mcp.ElicitParams
		s := t.open(options{elicit: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked = p
			return &mcp.ElicitResult{Action: "accept", Content: profile}, nil
		}})
		t.same(s.text("ask_profile", nil), "Ann <ann@example.com>, 30, green")
		t.same(asked.Message, "Who are you?")
		t.same(t.plain(asked.RequestedSchema)["required"], []any{"name", "mail", "age"})
	})
	for _, action := range []string{"decline", "cancel"} {
		r.since("2025-06-18", "a form that the user meets with "+action+" is told apart", func(t *T) {
			s := t.open(options{elicit: func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: action}, nil
			}})
			said := s.text("test_elicitation", object{"message": "Name?"})
			t.check(strings.Contains(said, "action="+action), "%s", said)
			t.check(s.call("ask_profile", nil).IsError, "no error")
		})
	}
	r.since("2025-11-25", "a URL is shown to the user", func(t *T) {
		var asked *mcp.ElicitParams
		s := t.open(options{urls: true, elicit: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			asked = p
			return &mcp.ElicitResult{Action: "accept"}, nil
		}})
		t.same(s.text("ask_url", nil), "logged in")
		t.same([]string{asked.Mode, asked.URL}, []string{"url", "https://example.com/login?x=1"})
		if t.revision < modern {
			t.same(s.take("elicitation/complete", 1), asked.ElicitationID)
		}
	})
	r.since("2025-06-18", "two questions one after the other are both answered", func(t *T) {
		s := t.open(options{elicit: either("name", object{"name": "Ann"}, object{"color": "red"})})
		t.same(s.text("test_input_required_result_multi_round", nil), "Ann likes red")
	})
	r.since("2025-06-18", "three questions at once are all answered", func(t *T) {
		s := t.open(options{elicit: accept(object{"name": "Ann"}), sample: say("Paris"),
			roots: []*mcp.Root{{URI: "file:///a"}, {URI: "file:///b"}}})
		t.same(s.text("test_input_required_result_multiple_inputs", nil), "Ann, Paris, 2 roots")
	})
	r.since("2025-06-18", "prompts and resources ask, too", func(t *T) {
		s := t.open(options{elicit: either("word", object{"word": "please"}, object{"context": "C"})})
		got, err := s.GetPrompt(t, &mcp.GetPromptParams{Name: "test_input_required_result_prompt"})
		t.ok(err)
		t.same(got.Messages[0].Content.(*mcp.TextContent).Text, "Context: C")
		t.same(s.read("ask://word")[0].Text, "The word is please")
	})
	r.since("2025-06-18", "50 calls that ask, at once, each get the answer to their own question", func(t *T) {
		s := t.open(options{elicit: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: object{"username": p.Message, "email": "x"}}, nil
		}})
		user := func(i int) object { return object{"message": fmt.Sprint("user", i)} }
		for i, answer := range s.together("test_elicitation", user)() {
			t.check(strings.Contains(answer, fmt.Sprintf(`"username":"user%d"`, i)), "%d: %s", i, answer)
		}
	})
	r.it("the client's model is asked, with every option", func(t *T) {
		var asked *mcp.CreateMessageParams
		s := t.open(options{sample: func(p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			asked = p
			return say("Hi there")(p)
		}})
		t.same(s.text("ask_model", nil), "Hi there by small-1")
		t.same([]any{len(asked.Messages), asked.SystemPrompt, asked.MaxTokens, asked.Temperature, asked.StopSequences},
			[]any{2, "Be brief.", int64(50), 0.25, []string{"END"}})
		t.same(asked.ModelPreferences.SpeedPriority, 0.5)
	})
	r.since("2025-11-25", "the model uses a tool, gets its result, and concludes", func(t *T) {
		s := t.open(options{tools: func(p *mcp.CreateMessageWithToolsParams) (*mcp.CreateMessageWithToolsResult, error) {
			result := &mcp.CreateMessageWithToolsResult{Model: "m", Role: "assistant", StopReason: "toolUse",
				Content: []mcp.Content{&mcp.ToolUseContent{ID: "use-1", Name: "double", Input: object{"n": 21}}}}
			last := p.Messages[len(p.Messages)-1].Content[0]
			if done, ok := last.(*mcp.ToolResultContent); ok {
				result.StopReason = "endTurn"
				result.Content = []mcp.Content{&mcp.TextContent{
					Text: "It is " + done.Content[0].(*mcp.TextContent).Text + " by " + done.ToolUseID}}
			}
			return result, nil
		}})
		t.same(s.text("model_with_tools", nil), "It is 42 by use-1")
	})
	r.it("an error of the client's model does not hurt the server", func(t *T) {
		s := t.open(options{sample: func(*mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("no model today")
		}})
		result, err := s.tryCall(t, "test_sampling", object{"prompt": "x"})
		if t.revision == modern { // the SDK ends the call itself
			t.check(err != nil, "it succeeded")
		} else {
			t.ok(err)
			t.check(result.IsError && strings.Contains(text(result), "no model today"), "%s", text(result))
		}
		t.same(s.text("echo", object{"text": "alive"}), "alive")
	})
	r.it("a client without sampling is not asked", func(t *T) {
		t.open(options{}).cannot("test_sampling", object{"prompt": "x"})
	})
	r.it("the client's roots reach the tool", func(t *T) {
		s := t.open(options{roots: []*mcp.Root{{URI: "file:///home/a", Name: "A"}}})
		t.same(t.parse(s.text("roots", nil)), t.parse(`[{"uri":"file:///home/a","name":"A"}]`))
	})
}

// ---- changes: told unasked before 2026-07-28, by subscriptions/listen from then on ---------------

const watched = "test://watched-resource"

func (r suite) changes() {
	r.it("changes of the lists are told once each, and the lists have changed", func(t *T) {
		s := t.open(options{})
		s.call("grow", nil)
		for _, kind := range []string{"tools", "prompts", "resources"} {
			s.take(kind, 1)
		}
		t.check(strings.Contains(fmt.Sprint(s.listed("tools")), " grown"), "the list is the old one")
		t.same(s.text("grown", nil), "grown")
		s.call("shrink", nil)
		for _, kind := range []string{"tools", "prompts", "resources"} {
			s.take(kind, 2)
		}
		s.settle()
		for _, kind := range []string{"tools", "prompts", "resources"} {
			t.same(s.count(kind), 2)
		}
	})
	r.it("who subscribed to a resource is told that it changed, until unsubscribing", func(t *T) {
		s := t.open(options{noLists: true})
		t.ok(s.Subscribe(t, &mcp.SubscribeParams{URI: watched}))
		s.settle()
		s.call("touch", object{"uri": "test://static-text"})
		s.call("touch", object{"uri": watched})
		t.same(s.take("resources/updated", 1), watched)
		t.ok(s.Unsubscribe(t, &mcp.UnsubscribeParams{URI: watched}))
		s.settle()
		s.call("touch", object{"uri": watched})
		s.settle()
		t.same(s.count("resources/updated"), 1)
	})
}

// ---- only up to 2025-11-25 ----------------------------------------------------------------------

func (r suite) legacy() {
	r.it("ping is answered, also while calls wait", func(t *T) {
		s := t.open(options{})
		done := s.background(t, parkWithProgress())
		s.parked("k")
		t.ok(s.Ping(t, nil))
		s.call("release", object{"key": "k"})
		t.ok((<-done).err)
	})
	r.it("log messages come from the level on that was set", func(t *T) {
		s := t.open(options{})
		t.ok(s.SetLoggingLevel(t, &mcp.SetLoggingLevelParams{Level: "error"}))
		s.call("log_all", nil)
		t.same(s.take("message", 4).(mcp.LoggingMessageParams).Level, mcp.LoggingLevel("emergency"))
		t.ok(s.SetLoggingLevel(t, &mcp.SetLoggingLevelParams{Level: "debug"}))
		s.call("log_all", nil)
		t.same(s.take("message", 4+8).(mcp.LoggingMessageParams).Data, any("at emergency"))
		t.same(s.count("message"), 4+8)
	})
	r.it("changed roots are noticed and asked for anew", func(t *T) {
		s := t.open(options{roots: []*mcp.Root{{URI: "file:///before"}}})
		t.check(!strings.Contains(s.text("roots", nil), "after"), "too early")
		s.client.AddRoots(&mcp.Root{URI: "file:///after"})
		t.same(s.text("roots_changed", nil), "1")
		t.check(strings.Contains(s.text("roots", nil), "after"), "the old ones")
	})
	if overHTTP { // the SDK hangs up on a call that it cancels, and cannot be told
		return
	}
	r.since("2025-06-18", "cancelling a call takes its open question back from the client", func(t *T) {
		shown, withdrawn := make(chan bool, 1), make(chan bool, 1)
		s := t.open(options{elicitCtx: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			shown <- true
			<-ctx.Done()
			withdrawn <- true
			return nil, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t)
		done := s.background(ctx, &mcp.CallToolParams{Name: "ask_profile"})
		<-shown
		cancel()
		t.check((<-done).err != nil, "the call succeeded")
		<-withdrawn
		t.ok(s.Ping(t, nil))
	})
}

// ---- only in 2026-07-28 -------------------------------------------------------------------------

func (r suite) modern() {
	r.it("log messages come with the request that asked for them, from its level on", func(t *T) {
		s := t.open(options{noLists: true})
		_, err := s.CallTool(t, &mcp.CallToolParams{Name: "log_all", Meta: mcp.Meta{mcp.MetaKeyLogLevel: "critical"}})
		t.ok(err)
		s.take("message", 3)
		s.call("log_all", nil)
		s.settle()
		t.same(s.count("message"), 3)
	})
	r.it("questions can be answered by hand, too, and a changed state is refused", func(t *T) {
		s := t.open(options{elicit: accept(nil), byHand: true})
		asks := s.call("test_input_required_result_tampered_state", nil)
		question, ok := asks.InputRequests["confirm"].(*mcp.ElicitParams)
		t.check(ok && question.Message == "Please confirm", "%v", asks.InputRequests)
		answer := func(state string) (*mcp.CallToolResult, error) {
			return s.CallTool(t, &mcp.CallToolParams{Name: "test_input_required_result_tampered_state", RequestState: state,
				InputResponses: mcp.InputResponseMap{"confirm": &mcp.ElicitResult{Action: "accept", Content: object{"ok": true}}}})
		}
		state, at := asks.RequestState, len(asks.RequestState)/2
		other := "A"
		if state[at] == 'A' {
			other = "B"
		}
		_, err := answer(state[:at] + other + state[at+1:])
		t.refused(err, -32602)
		done, err := answer(state)
		t.ok(err)
		t.same(text(done), "state-ok")
	})
	r.it("the SDK keeps a list that may be kept, and asks again when told that it changed", func(t *T) {
		s := t.open(options{env: []string{"SERVER_TTL=60000"}})
		before := len(s.listed("tools"))
		s.call("grow", nil)
		s.take("tools", 1)
		t.same(len(s.listed("tools")), before+1)
	})
	r.it("the server ends on SIGTERM with a subscription open", func(t *T) {
		s := t.open(options{})
		s.server.stop()
		if !overHTTP { // where a session is no connection
			s.Wait()
		}
	})
	r.it("a structured result may be any JSON value", func(t *T) {
		t.same(t.open(options{}).call("structured_list", nil).StructuredContent, any([]any{1.0, "two"}))
	})
}
