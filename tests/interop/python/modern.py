"""What only 2026-07-28 has: server/discover, results that ask (input_required), subscriptions/listen, log
levels per request, results that may be kept. For v2 of the SDK."""

from asks import accepting
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from session import refused, text
from tap import cases_of, within

LOG_LEVEL = "io.modelcontextprotocol/logLevel"
WATCHED = "test://watched-resource"


def modern_cases(sdk, revision):
    it, open_ = cases_of(sdk, revision)

    # ---- discovery ----------------------------------------------------------------------------

    @it("server/discover shows the revisions that there are")
    async def _():
        async with open_() as s:
            found = s.client.session.discover_result
            assert set(found.supported_versions) >= {"2026-07-28"}, found
            assert found.ttl_ms >= 0

    @it("a client that knows the revision needs no round trip")
    async def _():
        async with open_(mode="2026-07-28") as s:
            assert await s.text("echo", {"text": "at once"}) == "at once"

    @it("a revision that nobody knows is refused with -32022 and the ones there are")
    async def _():
        import mcp.types as types
        from mcp import MCPError

        async with open_() as s:
            try:
                await s.client.session.send_discover("2099-01-01")
            except MCPError as error:
                assert error.code == -32022
                types.UnsupportedProtocolVersionErrorData.model_validate(error.data)
                assert "2026-07-28" in error.data["supported"]
            else:
                raise AssertionError("was not refused")

    @it("nothing is told that was not asked for")
    async def _():
        async with open_(elicit=accepting({"name": "Ann"}), roots=lambda: []) as s:
            await s.call("test_input_required_result_elicitation")
            await s.call("roots")
            await s.call("grow")
            await s.call("touch", {"uri": WATCHED})
            await s.call("announce", {"text": "x"})
            await s.call("log_all")
            await s.call("shrink")
            await s.settle()
            assert s.notes.items == []

    @it("methods that the revision dropped are refused with -32601")
    async def _():
        async with open_() as s:
            await refused(s.ping(), -32601)
            await refused(s.set_level("debug"), -32601)
            await refused(s.subscribe(WATCHED), -32601)

    # ---- results that ask -----------------------------------------------------------------------

    @it("questions can be answered by hand, too")
    async def _():
        async with open_(elicit=accepting({})) as s:
            name = "test_input_required_result_elicitation"
            asks = await s.call_by_hand(name)
            assert asks["resultType"] == "input_required"
            question = asks["inputRequests"]["user_name"]
            assert question["method"] == "elicitation/create"
            assert question["params"]["message"] == "What is your name?"
            answers = {"user_name": {"action": "accept", "content": {"name": "Ann"}}}
            done = await s.call_by_hand(name, answers, asks.get("requestState"))
            assert text(done) == "Hello, Ann!"

    @it("a changed state is refused with -32602")
    async def _():
        async with open_(elicit=accepting({})) as s:
            name = "test_input_required_result_tampered_state"
            state = (await s.call_by_hand(name))["requestState"]
            at = len(state) // 2
            changed = state[:at] + ("B" if state[at] == "A" else "A") + state[at + 1 :]
            answers = {"confirm": {"action": "accept", "content": {"ok": True}}}
            await refused(s.call_by_hand(name, answers, changed), -32602)
            assert text(await s.call_by_hand(name, answers, state)) == "state-ok"

    @it("an answer that is missing is asked for again")
    async def _():
        async with open_(elicit=accepting({}), sample=accepting({}), roots=lambda: []) as s:
            name = "test_input_required_result_multiple_inputs"
            asks = await s.call_by_hand(name)
            assert set(asks["inputRequests"]) == {"user_name", "capital_question", "client_roots"}
            answers = {
                "user_name": {"action": "accept", "content": {"name": "Ann"}},
                "client_roots": {"roots": []},
            }
            again = await s.call_by_hand(name, answers, asks["requestState"])
            assert set(again["inputRequests"]) == {"capital_question"}

    # ---- subscriptions ----------------------------------------------------------------------------

    @it("listen tells of changed lists, only of those asked for")
    async def _():
        async with open_() as s:
            async with s.client.listen(tools_list_changed=True, resources_list_changed=True) as sub:
                honored = sub.honored.model_dump(exclude_none=True)
                assert honored == {"tools_list_changed": True, "resources_list_changed": True}
                await s.call("grow")
                told = [await within(sub.__anext__, "a change") for _ in range(2)]
                assert {type(e) for e in told} == {ToolsListChanged, ResourcesListChanged}
                assert "grown" in [t["name"] for t in (await s.all("tools"))[0]]

    @it("listen tells of changed resources, until it is closed")
    async def _():
        async with open_() as s:
            async with s.client.listen(resource_subscriptions=[WATCHED]) as sub:
                assert sub.honored.resource_subscriptions == [WATCHED]
                await s.call("touch", {"uri": "test://static-text"})
                await s.call("touch", {"uri": WATCHED})
                assert await within(sub.__anext__, "the change") == ResourceUpdated(uri=WATCHED)
            await s.settle()  # the SDK takes it back in the background
            await s.call("touch", {"uri": WATCHED})
            await s.settle()
            assert len(s.notes.of("notifications/resources/updated")) == 1

    @it("two subscriptions are told apart, and closing one leaves the other")
    async def _():
        async with open_() as s:
            async with s.client.listen(prompts_list_changed=True) as prompts:
                async with s.client.listen(tools_list_changed=True) as tools:
                    await s.call("grow")
                    assert isinstance(await within(tools.__anext__, "tools"), ToolsListChanged)
                    assert isinstance(await within(prompts.__anext__, "prompts"), PromptsListChanged)
                await s.call("shrink")
                assert isinstance(await within(prompts.__anext__, "prompts"), PromptsListChanged)

    @it("a server that stops ends subscriptions gracefully")
    async def _():
        async with open_() as s:
            async with s.client.listen(tools_list_changed=True) as sub:
                s.process.stop()

                async def drain():
                    return [event async for event in sub]  # raises if the stream was lost

                assert await within(drain, "the end of the subscription") == []

    @it("the server ends when the client closes with a subscription open")
    async def _():
        async with open_() as s:
            await s.client.listen(tools_list_changed=True).__aenter__()

    # ---- log levels ---------------------------------------------------------------------------------

    @it("log messages come with the request that asked for them, from its level on")
    async def _():
        async with open_() as s:
            await s.call("log_all", meta={LOG_LEVEL: "critical"})
            await s.notes.take("notifications/message", 3)
            await s.call("log_all")
            await s.settle()
            levels = [n["level"] for n in s.notes.of("notifications/message")]
            assert levels == ["critical", "alert", "emergency"]

    @it("a client may ask for a log level with all its requests")
    async def _():
        async with open_(log_level="error") as s:
            await s.call("log_all")
            await s.notes.take("notifications/message", 4)

    @it("an unknown log level is refused with -32602")
    async def _():
        async with open_() as s:
            await refused(s.call("log_all", meta={LOG_LEVEL: "loud"}), -32602)

    # ---- results that may be kept --------------------------------------------------------------------

    @it("the SDK keeps a list that may be kept, and asks again when told that it changed")
    async def _():
        async with open_(env={"SERVER_TTL": "60000"}) as s:
            first = await s.client.list_tools()
            assert (first.ttl_ms, first.cache_scope) == (60000, "public")
            await s.call("grow")  # nobody listens, so the SDK cannot know
            assert "grown" not in [t["name"] for t in (await s.all("tools"))[0]]
            async with s.client.listen(tools_list_changed=True) as sub:
                await s.call("shrink")
                await s.call("grow")
                await within(sub.__anext__, "the change")
                assert "grown" in [t["name"] for t in (await s.all("tools"))[0]]

    @it("what is read says how long it holds")
    async def _():
        async with open_() as s:
            for uri, expected in (
                ("test://static-text", (0, "private")),
                ("shape://full", (60000, "public")),
                ("multi://first", (5000, "public")),
            ):
                result = await s.read(uri)
                assert (result["ttlMs"], result["cacheScope"]) == expected, uri

    @it("a structured result may be any JSON value")
    async def _():
        async with open_() as s:
            assert (await s.call("structured_list"))["structuredContent"] == [1, "two"]
