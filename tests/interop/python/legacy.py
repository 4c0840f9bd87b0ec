"""What only the revisions up to 2025-11-25 have: sessions that are told of changes without having asked,
resources/subscribe, logging/setLevel, ping, requests from the server."""

import anyio
from asks import acting
from session import refused
from tap import cases_of, within

KINDS = ("tools", "prompts", "resources")


def legacy_cases(sdk, revision):
    it, on, open_ = cases_of(sdk, revision)

    @on("ping is answered, also while calls wait")
    async def _(s):
        async with anyio.create_task_group() as group:
            group.start_soon(s.call, "park", {"key": "k"})
            await s.parked("k")
            assert await s.ping() == {}
            await s.call("release", {"key": "k"})

    @on("changes of the lists are told once each, and the lists have changed")
    async def _(s):
        await s.call("grow")
        for kind in KINDS:
            await s.notes.take(f"notifications/{kind}/list_changed")
        assert "grown" in [t["name"] for t in (await s.all("tools"))[0]]
        assert await s.text("grown") == "grown"
        await s.call("shrink")
        assert "grown" not in [t["name"] for t in (await s.all("tools"))[0]]
        await refused(s.call("grown"), -32602)
        await s.settle()
        for kind in KINDS:
            assert len(s.notes.of(f"notifications/{kind}/list_changed")) == 2, kind

    @on("who subscribed to a resource is told that it changed, until unsubscribing")
    async def _(s):
        uri = "test://watched-resource"
        await s.call("touch", {"uri": uri})
        await s.subscribe(uri)
        await s.call("touch", {"uri": uri})
        assert (await s.notes.take("notifications/resources/updated"))["uri"] == uri
        await s.call("touch", {"uri": "test://static-text"})
        await s.unsubscribe(uri)
        await s.call("touch", {"uri": uri})
        await s.settle()
        assert len(s.notes.of("notifications/resources/updated")) == 1

    @on("log messages come from the level on that was set")
    async def _(s):
        await s.set_level("error")
        await s.call("log_all")
        await s.notes.take("notifications/message", 4)
        levels = [n["level"] for n in s.notes.of("notifications/message")]
        assert levels == ["error", "critical", "alert", "emergency"]
        await s.set_level("debug")
        await s.call("log_all")
        last = await s.notes.take("notifications/message", 4 + 8)
        assert last["data"] == "at emergency"

    @on("log messages of the server itself have a logger")
    async def _(s):
        await s.set_level("info")
        await s.call("announce", {"text": "Attention: 5 %s"})
        note = await s.notes.take("notifications/message")
        assert note == {"level": "warning", "logger": "announcer", "data": "Attention: 5 %s"}

    @it("changed roots are noticed and asked for anew")
    async def _():
        roots = [{"uri": "file:///before"}]
        async with open_(roots=lambda: roots) as s:
            assert "before" in await s.text("roots")
            assert await s.text("roots_changed") == "0"
            roots[0] = {"uri": "file:///after"}
            await s.roots_changed()
            assert await s.text("roots_changed") == "1"
            assert "after" in await s.text("roots")

    @on("the end of a URL elicitation is told under the id that was asked with", "2025-11-25",
        elicit=acting("accept"))
    async def _(s):
        await s.call("ask_url")
        note = await s.notes.take("notifications/elicitation/complete")
        assert note["elicitationId"] == s.asked[0]["elicitationId"]

    if sdk.NAME.startswith("python v2"):  # v1 handles one message at a time: it would not see the withdrawal

        @it("cancelling a call takes its open question back from the client", since="2025-06-18")
        async def _():
            shown, withdrawn = anyio.Event(), anyio.Event()

            async def elicit(_params):
                shown.set()
                try:
                    await anyio.sleep_forever()
                finally:
                    withdrawn.set()

            async with open_(elicit=elicit) as s:
                async with anyio.create_task_group() as group:
                    group.start_soon(s.call, "ask_profile")
                    await within(shown.wait, "the question")
                    await s.cancelling(group.cancel_scope, "ask_profile")
                await within(withdrawn.wait, "the withdrawal")
                assert await s.ping() == {}
