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
    it, on, open_ = cases_of(sdk, revision)

    # ---- discovery ----------------------------------------------------------------------------

    @on("server/discover shows the revisions that there are")
    async def _(s):
        found = s.client.session.discover_result
        assert set(found.supported_versions) >= {"2026-07-28"}, found
        assert found.ttl_ms >= 0

    @on("a client that knows the revision needs no round trip", mode="2026-07-28")
    async def _(s):
        assert await s.text("echo", {"text": "at once"}) == "at once"

    # ---- results that ask -----------------------------------------------------------------------

    @on("questions can be answered by hand, too", elicit=accepting({}))
    async def _(s):
        name = "test_input_required_result_elicitation"
        asks = await s.call_by_hand(name)
        assert asks["resultType"] == "input_required"
        question = asks["inputRequests"]["user_name"]
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"] == "What is your name?"
        answers = {"user_name": {"action": "accept", "content": {"name": "Ann"}}}
        done = await s.call_by_hand(name, answers, asks.get("requestState"))
        assert text(done) == "Hello, Ann!"

    # ---- subscriptions ----------------------------------------------------------------------------

    @on("listen tells of changed lists, only of those asked for")
    async def _(s):
        async with s.client.listen(tools_list_changed=True, resources_list_changed=True) as sub:
            honored = sub.honored.model_dump(exclude_none=True)
            assert honored == {"tools_list_changed": True, "resources_list_changed": True}
            await s.call("grow")
            told = [await within(sub.__anext__, "a change") for _ in range(2)]
            assert {type(e) for e in told} == {ToolsListChanged, ResourcesListChanged}
            assert "grown" in [t["name"] for t in (await s.all("tools"))[0]]

    @on("listen tells of changed resources, until it is closed")
    async def _(s):
        async with s.client.listen(resource_subscriptions=[WATCHED]) as sub:
            assert sub.honored.resource_subscriptions == [WATCHED]
            await s.call("touch", {"uri": "test://static-text"})
            await s.call("touch", {"uri": WATCHED})
            assert await within(sub.__anext__, "the change") == ResourceUpdated(uri=WATCHED)
        await s.settle()  # the SDK takes it back in the background
        await s.call("touch", {"uri": WATCHED})
        await s.settle()
        assert len(s.notes.of("notifications/resources/updated")) == 1

    @on("two subscriptions are told apart, and closing one leaves the other")
    async def _(s):
        async with s.client.listen(prompts_list_changed=True) as prompts:
            async with s.client.listen(tools_list_changed=True) as tools:
                await s.call("grow")
                assert isinstance(await within(tools.__anext__, "tools"), ToolsListChanged)
                assert isinstance(await within(prompts.__anext__, "prompts"), PromptsListChanged)
            await s.call("shrink")
            assert isinstance(await within(prompts.__anext__, "prompts"), PromptsListChanged)

    @on("a server that stops ends subscriptions gracefully")
    async def _(s):
        async with s.client.listen(tools_list_changed=True) as sub:
            s.process.stop()

            async def drain():
                return [event async for event in sub]  # raises if the stream was lost

            assert await within(drain, "the end of the subscription") == []

    @on("the server ends when the client closes with a subscription open")
    async def _(s):
        await s.client.listen(tools_list_changed=True).__aenter__()

    # ---- log levels ---------------------------------------------------------------------------------

    @on("log messages come with the request that asked for them, from its level on")
    async def _(s):
        await s.call("log_all", meta={LOG_LEVEL: "critical"})
        await s.notes.take("notifications/message", 3)
        await s.call("log_all")
        await s.settle()
        levels = [n["level"] for n in s.notes.of("notifications/message")]
        assert levels == ["critical", "alert", "emergency"]

    @on("a client may ask for a log level with all its requests", log_level="error")
    async def _(s):
        await s.call("log_all")
        await s.notes.take("notifications/message", 4)

    # ---- results that may be kept --------------------------------------------------------------------

    @on("the SDK keeps a list that may be kept, and asks again when told that it changed", env={"SERVER_TTL": "60000"})
    async def _(s):
        first = await s.client.list_tools()
        assert (first.ttl_ms, first.cache_scope) == (60000, "public")
        await s.call("grow")  # nobody listens, so the SDK cannot know
        assert "grown" not in [t["name"] for t in (await s.all("tools"))[0]]
        async with s.client.listen(tools_list_changed=True) as sub:
            await s.call("shrink")
            await s.call("grow")
            await within(sub.__anext__, "the change")
            assert "grown" in [t["name"] for t in (await s.all("tools"))[0]]

    @on("a structured result may be any JSON value")
    async def _(s):
        assert (await s.call("structured_list"))["structuredContent"] == [1, "two"]
