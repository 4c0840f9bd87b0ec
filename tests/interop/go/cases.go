package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ---- connecting ---------------------------------------------------------------------------------

func (r suite) connecting() {
	r.it("connect shows the server, its capabilities and its instructions", func(t *T) {
		s := t.open(options{})
		got := s.InitializeResult()
		t.same(got.ProtocolVersion, t.revision)
		t.same([]string{got.ServerInfo.Name, got.ServerInfo.Version}, []string{"sdk-server", "1.2.3"})
		t.same(got.ServerInfo.Title != "", t.revision >= "2025-06-18")
		t.same(len(got.ServerInfo.Icons) == 1, t.revision >= "2025-11-25")
		t.same(got.Instructions, `Ask "anything" – politely.`)
		caps := got.Capabilities
		t.check(caps.Tools.ListChanged && caps.Prompts.ListChanged, "listChanged is missing")
		t.check(caps.Resources.ListChanged && caps.Resources.Subscribe, "of resources, too")
		t.check(caps.Logging != nil, "logging is missing")
		t.same(caps.Completions != nil, t.revision >= "2025-03-26")
	})
	r.it("the server knows the client: name, revision, capabilities", func(t *T) {
		s := t.open(options{elicit: accept(object{})})
		me := t.parse(s.text("whoami", nil)).(object)
		t.same(me["revision"], t.revision)
		t.same(me["client"].(object)["name"], "interop-go")
		t.same(me["form"], t.revision >= "2025-06-18")
		t.same(me["sampling"], false)
	})
	if !overHTTP {
		r.it("the server ends by itself, with status 0, when the client closes", func(t *T) {
			s := t.open(options{})
			t.ok(s.Close())
			t.same(s.server.cmd.ProcessState.ExitCode(), 0)
		})
	}
	r.it("the server ends on SIGTERM with a call open, and the client sees it", func(t *T) {
		s := t.open(options{})
		done := s.background(t, parkUntilCancelled)
		s.parked("k")
		s.server.stop()
		t.check((<-done).err != nil, "the call succeeded")
	})
}

// ---- lists --------------------------------------------------------------------------------------

// listed walks a list with the SDK's iterator; the keys, in order.
func (s *Session) listed(kind string) (keys []string) {
	note := func(key string, err error) {
		s.t.ok(err)
		keys = append(keys, key)
	}
	switch kind {
	case "tools":
		for x, err := range s.Tools(s.t, nil) {
			note(x.Name, err)
		}
	case "resources":
		for x, err := range s.Resources(s.t, nil) {
			note(x.URI, err)
		}
	case "templates":
		for x, err := range s.ResourceTemplates(s.t, nil) {
			note(x.URITemplate, err)
		}
	case "prompts":
		for x, err := range s.Prompts(s.t, nil) {
			note(x.Name, err)
		}
	}
	return keys
}

func (s *Session) tool(name string) *mcp.Tool {
	for x, err := range s.Tools(s.t, nil) {
		s.t.ok(err)
		if x.Name == name {
			return x
		}
	}
	s.t.failf("there is no tool %s", name)
	return nil
}

func (r suite) lists() {
	r.it("tools are listed with all that describes them, as far as the revision knows it", func(t *T) {
		tool := t.open(options{}).tool("forecast")
		t.same(tool.Description, "Weather of the next days")
		t.same(t.plain(tool.InputSchema)["required"], []any{"city"})
		t.same(tool.Annotations != nil, t.revision >= "2025-03-26")
		t.same(tool.Title != "", t.revision >= "2025-06-18")
		t.same(tool.OutputSchema != nil, t.revision >= "2025-06-18")
		t.same(len(tool.Icons) == 2, t.revision >= "2025-11-25")
	})
	for _, kind := range []string{"tools", "resources", "templates", "prompts"} {
		r.it("small pages add up to the whole list of "+kind, func(t *T) {
			whole := t.open(options{}).listed(kind)
			t.check(len(whole) > 3, "too few to make pages")
			t.same(t.open(options{env: []string{"SERVER_PAGE=3"}}).listed(kind), whole)
		})
	}
	r.it("resources are listed with all that describes them", func(t *T) {
		s := t.open(options{})
		for x, err := range s.Resources(t, nil) {
			t.ok(err)
			if x.URI == "shape://full" {
				t.same([]string{x.Name, x.MIMEType}, []string{"full", "text/plain"})
				t.same(x.Annotations.Audience, []mcp.Role{"user", "assistant"})
				t.same(x.Title != "", t.revision >= "2025-06-18")
				return
			}
		}
		t.failf("shape://full is not listed")
	})
}

// ---- calls --------------------------------------------------------------------------------------

func (r suite) calls() {
	r.it("a tool answers with text", func(t *T) {
		result := t.open(options{}).call("test_simple_text", nil)
		t.check(!result.IsError, "an error")
		t.same(text(result), "This is a simple text response for testing.")
	})
	r.it("a tool answers with an image", func(t *T) {
		image, ok := t.open(options{}).call("test_image_content", nil).Content[0].(*mcp.ImageContent)
		t.check(ok && image.MIMEType == "image/png" && len(image.Data) == 70, "not the image")
	})
	r.since("2025-03-26", "a tool answers with sound", func(t *T) {
		audio, ok := t.open(options{}).call("test_audio_content", nil).Content[0].(*mcp.AudioContent)
		t.check(ok && audio.MIMEType == "audio/wav" && len(audio.Data) == 44, "not the sound")
	})
	r.it("a tool answers with an embedded resource", func(t *T) {
		block, ok := t.open(options{}).call("test_embedded_resource", nil).Content[0].(*mcp.EmbeddedResource)
		t.check(ok, "not a resource")
		t.same(block.Resource.URI, "test://embedded-resource")
		t.same(block.Resource.Text, "This is an embedded resource content.")
	})
	r.since("2025-06-18", "a tool answers with links to resources", func(t *T) {
		link, ok := t.open(options{}).call("links", nil).Content[0].(*mcp.ResourceLink)
		t.check(ok && link.URI == "test://static-text" && link.Name == "static-text", "not the link")
	})
	r.it("blocks of every kind that the revision has are understood", func(t *T) {
		kinds := map[string]bool{}
		for _, c := range t.open(options{}).call("all_kinds", nil).Content {
			kinds[fmt.Sprintf("%T", c)] = true
		}
		t.same(kinds["*mcp.AudioContent"], t.revision >= "2025-03-26")
		t.same(kinds["*mcp.ResourceLink"], t.revision >= "2025-06-18")
	})
	r.it("a structured result stands in the text too", func(t *T) {
		result := t.open(options{}).call("forecast", object{"city": "Köln", "days": 1})
		want := t.parse(`{"city":"Köln","days":[{"day":0,"high":18,"sky":"clear"}],"sure":false}`)
		t.check(reflect.DeepEqual(t.parse(text(result)), want), "text: %s", text(result))
		if t.revision >= "2025-06-18" {
			t.check(reflect.DeepEqual(result.StructuredContent, want), "%v", result.StructuredContent)
		} else {
			t.check(result.StructuredContent == nil, "%v", result.StructuredContent)
		}
	})
	r.it("a failure of a tool is a result with isError", func(t *T) {
		result := t.open(options{}).call("test_error_handling", nil)
		t.check(result.IsError, "no error")
		t.same(text(result), "This tool intentionally returns an error for testing")
	})
	// A result since 2025-11-25, so that a model can correct itself; an error before.
	r.it("invalid arguments are refused in the way of the revision, and named", func(t *T) {
		result, err := t.open(options{}).tryCall(t, "echo", object{})
		if t.revision < "2025-11-25" {
			t.check(strings.Contains(string(t.refused(err, -32602).Data), "text: required"), "%v", err)
			return
		}
		t.ok(err)
		t.check(result.IsError && strings.Contains(text(result), "text: required"), "%s", text(result))
	})
	r.it("an unknown tool is refused with -32602", func(t *T) {
		_, err := t.open(options{}).tryCall(t, "no_such_tool", nil)
		t.refused(err, -32602)
	})
	r.it("an error that a handler chose arrives with code, message and data", func(t *T) {
		_, err := t.open(options{}).tryCall(t, "reject", object{"code": -32050, "why": "because"})
		e := t.refused(err, -32050)
		t.same(e.Message, "refused: because")
		t.check(reflect.DeepEqual(t.parse(string(e.Data)), t.parse(`{"why":[1,2]}`)), "%s", e.Data)
	})
	r.it("text of every script comes back as it went", func(t *T) {
		s := t.open(options{})
		for _, sample := range []string{
			"äöü ß € 漢字 한국어 עברית العربية", "😀👩‍👩‍👧‍👦🇪🇺 \U0010ffff",
			"line\nfeed\r\ttab \"quotes\" \\ back/slash <&>", "\u2028\u2029\ufeff\x01\x1f\x7f", ""} {
			t.same(s.text("echo", object{"text": sample}), sample)
		}
	})
	r.it("2 MB go there and back", func(t *T) {
		big := strings.Repeat("Größe: \"x\"\n", 170_000)
		t.check(t.open(options{}).text("echo", object{"text": big}) == big, "it is not the same")
	})
	r.it("50 calls are in flight at once, and each gets its own answer", func(t *T) {
		s := t.open(options{})
		key := func(i int) object { return object{"key": fmt.Sprint("call ", i)} }
		answers := s.together("park", key)
		for i := range 50 {
			s.parked(fmt.Sprint("call ", i))
		}
		t.same(s.text("release", key(33)), "released call 33")
		t.same(s.text("release_all", nil), "released 49")
		for i, answer := range answers() {
			t.same(answer, fmt.Sprint("parked call ", i))
		}
	})
	r.it("50 calls on worker threads are all answered", func(t *T) {
		number := func(i int) object { return object{"text": fmt.Sprint(i)} }
		for i, answer := range t.open(options{}).together("block", number)() {
			t.same(answer, fmt.Sprint(i))
		}
	})
	r.it("progress arrives in order, with total and message", func(t *T) {
		s := t.open(options{})
		done := s.background(t, parkWithProgress())
		s.parked("k")
		for i, step := range []float64{1, 2.5} {
			s.call("step", object{"key": "k", "done": step, "total": 4})
			p := s.take("progress", i+1).(mcp.ProgressNotificationParams)
			t.same([]any{p.ProgressToken, p.Progress, p.Total}, []any{"token", step, 4.0})
			t.same(p.Message == fmt.Sprint("step ", step), t.revision >= "2025-03-26")
		}
		s.call("release", object{"key": "k"})
		t.ok((<-done).err)
	})
	r.it("a cancelled call ends in the handler, and the server lives on", func(t *T) {
		s := t.open(options{})
		ctx, cancel := context.WithCancel(t)
		done := s.background(ctx, parkUntilCancelled)
		s.parked("k")
		cancel()
		t.check((<-done).err != nil, "the call succeeded")
		for s.text("parked", object{"key": "k"}) == "yes" { // the SDK tells it in the background
		}
		t.same(s.text("echo", object{"text": "alive"}), "alive")
	})
}

// ---- resources, prompts, completion -------------------------------------------------------------

func (s *Session) read(uri string) []*mcp.ResourceContents {
	result, err := s.ReadResource(s.t, &mcp.ReadResourceParams{URI: uri})
	s.t.ok(err)
	return result.Contents
}

func (s *Session) complete(ref mcp.CompleteReference, name, value string, known map[string]string) mcp.CompletionResultDetails {
	params := &mcp.CompleteParams{Ref: &ref, Argument: mcp.CompleteParamsArgument{Name: name, Value: value}}
	if known != nil {
		params.Context = &mcp.CompleteContext{Arguments: known}
	}
	result, err := s.Complete(s.t, params)
	s.t.ok(err)
	return result.Completion
}

func (r suite) contents() {
	r.it("resources are read: as text, as bytes, by the variable of a template, several contents at once", func(t *T) {
		s := t.open(options{})
		got := s.read("test://static-text")[0]
		t.same([]string{got.URI, got.MIMEType, got.Text}, []string{"test://static-text", "text/plain",
			"This is the content of the static text resource."})
		got = s.read("test://static-binary")[0]
		t.check(got.MIMEType == "image/png" && len(got.Blob) == 70, "not the bytes")
		t.same(t.parse(s.read("test://template/a%20b/data")[0].Text).(object)["id"], "a b")
		t.same(len(s.read("multi://first")), 3)
	})
	r.it("what is not there is not found, with the code of the revision", func(t *T) {
		_, err := t.open(options{}).ReadResource(t, &mcp.ReadResourceParams{URI: "test://no-such"})
		code := int64(-32002)
		if t.revision == modern {
			code = -32602
		}
		var data struct{ URI string }
		t.ok(json.Unmarshal(t.refused(err, code).Data, &data))
		t.same(data.URI, "test://no-such")
	})
	r.it("prompts are listed with their arguments", func(t *T) {
		for x, err := range t.open(options{}).Prompts(t, nil) {
			t.ok(err)
			if x.Name == "review" {
				t.check(len(x.Arguments) == 3 && x.Arguments[0].Required && !x.Arguments[1].Required, "not its arguments")
				return
			}
		}
		t.failf("review is not listed")
	})
	r.it("a prompt is got with arguments", func(t *T) {
		got, err := t.open(options{}).GetPrompt(t, &mcp.GetPromptParams{Name: "review",
			Arguments: map[string]string{"file": "a.c", "style": "strict"}})
		t.ok(err)
		t.same(got.Description, "A review, made to measure")
		t.same(got.Messages[0].Content.(*mcp.TextContent).Text, "Review a.c in style strict.")
		t.same(got.Messages[1].Role, mcp.Role("assistant"))
	})
	r.it("a prompt holds images", func(t *T) {
		got, err := t.open(options{}).GetPrompt(t, &mcp.GetPromptParams{Name: "test_prompt_with_image"})
		t.ok(err)
		_, image := got.Messages[0].Content.(*mcp.ImageContent)
		t.check(image, "%T", got.Messages[0].Content)
	})
	r.it("arguments of prompts are completed", func(t *T) {
		ref := mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"}
		found := t.open(options{}).complete(ref, "arg1", "test", nil)
		t.same(found.Values, []string{"testValue1", "testValue2", "testValue3"})
	})
	r.since("2025-06-18", "arguments of prompts are completed by what is known of others", func(t *T) {
		ref := mcp.CompleteReference{Type: "ref/prompt", Name: "test_prompt_with_arguments"}
		found := t.open(options{}).complete(ref, "arg2", "testValueX", map[string]string{"arg1": "X"})
		t.same(found.Values, []string{"testValueX1", "testValueX2", "testValueX3"})
	})
	r.it("variables of templates are completed", func(t *T) {
		ref := mcp.CompleteReference{Type: "ref/resource", URI: "test://template/{id}/data"}
		t.same(t.open(options{}).complete(ref, "id", "12", nil).Values, []string{"123", "124"})
	})
}
