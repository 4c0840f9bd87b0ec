"""What the server asks of a client: of its user, its model, its roots. The same cases in both eras; the
SDK answers requests of the server in the old one, results that ask in the new one."""

import json

import anyio
from cases import raises
from session import refused, text
from tap import cases_of

PROFILE = {"name": "Ann", "mail": "ann@example.com", "age": 30, "color": "green", "member": False}


def accepting(content):
    async def elicit(_params):
        return {"action": "accept", "content": content}

    return elicit


def acting(action):
    async def elicit(_params):
        return {"action": action}

    return elicit


def saying(words):
    async def sample(_params):
        return {
            "model": "small-1",
            "role": "assistant",
            "stopReason": "endTurn",
            "content": {"type": "text", "text": words},
        }

    return sample


def ask_cases(sdk, revision):
    modern = revision >= "2026"

    it, on, open_ = cases_of(sdk, revision)

    async def cannot(s, *call):
        """The server knows that the client cannot be asked this."""
        if modern:
            await refused(s.call(*call), -32021)
        else:
            assert (await s.call(*call))["isError"] is True

    # ---- the user -----------------------------------------------------------------------------

    @on("a form is shown with its schema, and its answer reaches the tool", "2025-06-18",
        elicit=accepting(PROFILE))
    async def _(s):
        assert await s.text("ask_profile") == "Ann <ann@example.com>, 30, green"
        [question] = s.asked
        assert question["message"] == "Who are you?"
        schema = question["requestedSchema"]
        assert schema["required"] == ["name", "mail", "age"]
        assert schema["properties"]["mail"]["format"] == "email"
        assert schema["properties"]["age"]["maximum"] == 150

    for action in ("decline", "cancel"):

        @on(f"a form that the user meets with {action} is told apart", since="2025-06-18", elicit=acting(action))
        async def _(s, action=action):
            assert f"action={action}" in await s.text("test_elicitation", {"message": "Name?"})
            result = await s.call("ask_profile")
            assert result["isError"] is True
            assert ("declined" if action == "decline" else "closed") in text(result)

    @it("choices of every kind are asked for", since="2025-11-25")
    async def _():
        content = {
            "untitledSingle": "option2",
            "titledSingle": "value1",
            "legacyEnum": "opt3",
            "untitledMulti": ["option1", "option3"],
            "titledMulti": ["value2"],
        }
        async with open_(elicit=accepting(content)) as s:
            said = await s.text("test_elicitation_sep1330_enums")
            assert json.loads(said[said.index("{") :]) == content

    @on("an answer that does not fit the form is not taken", since="2025-06-18", elicit=accepting({**PROFILE, "age": 400}))
    async def _(s):
        if modern:  # it came as a parameter of a request
            await refused(s.call("ask_profile"), -32602, "age")
        else:
            result = await s.call("ask_profile")
            assert result["isError"] is True
            assert "Ann <" not in text(result)

    @on("a URL is shown to the user", "2025-11-25", elicit=acting("accept"))
    async def _(s):
        assert await s.text("ask_url") == "logged in"
        assert s.asked[0]["mode"] == "url"
        assert s.asked[0]["url"] == "https://example.com/login?x=1"

    @it("two questions one after the other are both answered", since="2025-06-18")
    async def _():
        async def elicit(params):
            name = "name" in params["requestedSchema"]["properties"]
            return {"action": "accept", "content": {"name": "Ann"} if name else {"color": "red"}}

        async with open_(elicit=elicit) as s:
            assert await s.text("test_input_required_result_multi_round") == "Ann likes red"

    @it("three questions at once are all answered", since="2025-06-18")
    async def _():
        async with open_(
            elicit=accepting({"name": "Ann"}),
            sample=saying("Paris"),
            roots=lambda: [{"uri": "file:///a"}, {"uri": "file:///b"}],
        ) as s:
            said = await s.text("test_input_required_result_multiple_inputs")
            assert said == "Ann, Paris, 2 roots"

    @it("prompts and resources ask, too", since="2025-06-18")
    async def _():
        async def elicit(params):
            word = "word" in params["requestedSchema"]["properties"]
            return {"action": "accept", "content": {"word": "please"} if word else {"context": "C"}}

        async with open_(elicit=elicit) as s:
            got = await s.prompt("test_input_required_result_prompt")
            assert got["messages"][0]["content"]["text"] == "Context: C"
            assert (await s.read("ask://word"))["contents"][0]["text"] == "The word is please"

    @it("50 calls that ask, at once, each get the answer to their own question", since="2025-06-18")
    async def _():
        async def elicit(params):
            name = params["message"]
            return {"action": "accept", "content": {"username": name, "email": f"{name}@x.org"}}

        async with open_(elicit=elicit) as s:
            said = {}

            async def ask(name):
                said[name] = await s.text("test_elicitation", {"message": name})

            async with anyio.create_task_group() as group:
                for i in range(50):
                    group.start_soon(ask, f"user{i}")
            for name, answer in said.items():
                assert f'"username":"{name}"' in answer
            assert len(said) == 50

    # ---- the model ----------------------------------------------------------------------------

    @on("the client's model is asked, with every option", sample=saying("Hi there"))
    async def _(s):
        assert await s.text("ask_model") == "Hi there by small-1"
        [question] = s.asked
        question.pop("_meta", None)
        assert question == {
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Hi"}},
                {"role": "assistant", "content": {"type": "text", "text": "Hello"}},
            ],
            "systemPrompt": "Be brief.",
            "maxTokens": 50,
            "temperature": 0.25,
            "modelPreferences": {
                "hints": [{"name": "small"}],
                "costPriority": 1,
                "speedPriority": 0.5,
                "intelligencePriority": 0,
            },
            "stopSequences": ["END"],
            "metadata": {"trace": 7},
        }

    @it("the model uses a tool, gets its result, and concludes", since="2025-11-25")
    async def _():
        async def sample(params):
            last = params["messages"][-1]["content"]
            last = last[0] if isinstance(last, list) else last
            done = last["type"] == "tool_result"
            use = {"type": "tool_use", "id": "use-1", "name": "double", "input": {"n": 21}}
            return {
                "model": "m",
                "role": "assistant",
                "stopReason": "endTurn" if done else "toolUse",
                "content": [{"type": "text", "text": "It is 42."} if done else use],
            }

        async with open_(sample=sample, sampling_tools=True) as s:
            said = await s.call("model_with_tools")
            assert text(said) == "It is 42.", said
            assert s.asked[0]["toolChoice"] == {"mode": "required"}
            assert s.asked[0]["tools"][0]["name"] == "double"

    @it("an error of the client's model does not hurt the server")
    async def _():
        async def sample(_params):
            return {"error": {"code": -1, "message": "no model today"}}

        async with open_(sample=sample) as s:
            if modern:  # the SDK ends the call itself
                await raises(s.call("test_sampling", {"prompt": "x"}))
            else:
                result = await s.call("test_sampling", {"prompt": "x"})
                assert result["isError"] is True
                assert "no model today" in text(result)
            assert await s.text("echo", {"text": "alive"}) == "alive"

    @on("a client without sampling is not asked")
    async def _(s):
        await cannot(s, "test_sampling", {"prompt": "x"})

    # ---- roots --------------------------------------------------------------------------------

    @it("the client's roots reach the tool")
    async def _():
        roots = [{"uri": "file:///home/a", "name": "A"}, {"uri": "file:///tmp"}]
        async with open_(roots=lambda: roots) as s:
            assert json.loads(await s.text("roots")) == roots

    @on("a client without roots is not asked")
    async def _(s):
        await cannot(s, "roots")
