"""What a client must find in our server, in every revision; a case each. Where revisions differ on
purpose, a case says so. `sdk` is sdk_v1 or sdk_v2."""

import base64
import json

import anyio
from session import OVER_HTTP, refused, text
from tap import cases_of, within

PNG, WAV = "iVBORw0KGgo", "UklGRiYAAAB"
SIMPLE = "This is a simple text response for testing."
STATIC = {"uri": "test://static-text", "mimeType": "text/plain"}
EMBEDDED = {
    "uri": "test://embedded-resource",
    "mimeType": "text/plain",
    "text": "This is an embedded resource content.",
}
LINKS = [
    {"type": "resource_link", "name": "static-text", "description": "A link", **STATIC},
    {"type": "resource_link", "uri": "test://bare", "name": "test://bare"},
]
LISTS = {"tools": "name", "resources": "uri", "resource_templates": "uriTemplate", "prompts": "name"}


async def raises(call):
    """The call fails, however."""
    try:
        result = await call
    except Exception:
        return
    raise AssertionError(f"did not fail: {result}")


def find(items, key, value):
    [item] = [i for i in items if i[key] == value]
    return item


def common_cases(sdk, revision):
    modern = revision >= "2026"
    structured = revision >= "2025-06-18"  # structured results, titles, links, completion context

    it, on, open_ = cases_of(sdk, revision)

    # ---- connecting -------------------------------------------------------------------------

    @on("connect shows the server, its capabilities and its instructions")
    async def _(s):
        assert s.revision == revision, s.revision
        info = {"name": "sdk-server", "version": "1.2.3"}
        if structured:
            info["title"] = "The SDKs' server"
        if revision >= "2025-11-25":
            info["description"] = "Answers what the official SDKs ask"
            info["websiteUrl"] = "https://example.com/"
            info["icons"] = [
                {"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}
            ]
        assert s.server_info == info, s.server_info
        assert s.instructions == 'Ask "anything" – politely.', s.instructions
        expected = {
            "tools": {"listChanged": True},
            "resources": {"listChanged": True, "subscribe": True},
            "prompts": {"listChanged": True},
            "logging": {},
        }
        if revision >= "2025-03-26":
            expected["completions"] = {}
        assert s.capabilities == expected, s.capabilities

    @on("the server knows the client: name, revision, capabilities", roots=lambda: [])
    async def _(s):
        me = json.loads(await s.text("whoami"))
        assert me["revision"] == revision
        assert me["client"]["name"] == "interop-python"
        assert [me[k] for k in ("form", "url", "sampling", "roots")] == [False, False, False, True]

    if not OVER_HTTP:

        @it("the server ends by itself, with status 0, when the client closes")
        async def _():
            async with open_() as s:
                process = s.process
            assert process.ended == 0

    @on("the server ends also when the client gives a call up and closes at once")
    async def _(s):
        if not modern:  # v2 does not survive a log message that comes while it closes
            await s.set_level("emergency")
        async with anyio.create_task_group() as group:
            group.start_soon(s.call, "park_until_cancelled", {"key": "k"})
            await s.parked("k")
            group.cancel_scope.cancel()

    @on("the server ends on SIGTERM with a call open, and the client sees it")
    async def _(s):
        async with anyio.create_task_group() as group:
            group.start_soon(raises, s.call("park_until_cancelled", {"key": "k"}))
            await s.parked("k")
            s.process.stop()
        s.expect_complaints = OVER_HTTP  # it cannot end its session any more

    # ---- lists ------------------------------------------------------------------------------

    @on("tools are listed with all that describes them, as far as the revision knows it")
    async def _(s):
        tools, _ = await s.all("tools")
        tool = find(tools, "name", "forecast")
        assert tool["description"] == "Weather of the next days"
        assert tool["inputSchema"]["required"] == ["city"]
        assert tool["inputSchema"]["properties"]["days"]["default"] == 2
        knows = {
            "annotations": revision >= "2025-03-26",
            "title": structured,
            "outputSchema": structured,
            "_meta": structured,
            "icons": revision >= "2025-11-25",
        }
        assert {k: k in tool for k in knows} == knows, tool

    for kind, key in LISTS.items():

        @it(f"small pages add up to the whole list of {kind}")
        async def _(kind=kind, key=key):
            async with open_() as s:
                whole, pages = await s.all(kind)
                assert pages == 1
            async with open_(env={"SERVER_PAGE": "3"}) as s:
                paged, pages = await s.all(kind)
            assert pages == (len(whole) + 2) // 3
            assert [i[key] for i in paged] == [i[key] for i in whole]

    # ---- calls ------------------------------------------------------------------------------

    for what, tool, content, since in (
        ("text", "test_simple_text", [{"type": "text", "text": SIMPLE}], ""),
        ("an image", "test_image_content", [{"type": "image", "mimeType": "image/png", "data": PNG}], ""),
        ("sound", "test_audio_content", [{"type": "audio", "mimeType": "audio/wav", "data": WAV}], "2025-03-26"),
        ("a resource", "test_embedded_resource", [{"type": "resource", "resource": EMBEDDED}], ""),
        ("links", "links", LINKS, "2025-06-18"),
    ):

        @on(f"a tool answers with {what}", since)
        async def _(s, tool=tool, content=content):
            result = await s.call(tool)
            for block in result["content"]:
                if "data" in block:
                    base64.b64decode(block["data"], validate=True)
                    block["data"] = block["data"][: len(PNG)]
            assert result["content"] == content, result
            assert not result.get("isError")

    @on("blocks of every kind that the revision has carry annotations")
    async def _(s):
        blocks = (await s.call("all_kinds"))["content"]
        kinds = {b["type"] for b in blocks}
        assert ("audio" in kinds) == (revision >= "2025-03-26"), kinds
        assert ("resource_link" in kinds) == structured, kinds
        assert blocks[0]["annotations"]["audience"] == ["user"]
        assert ("lastModified" in blocks[0]["annotations"]) == structured
        assert ("_meta" in blocks[0]) == structured

    @on("a structured result satisfies its output schema, and stands in the text too")
    async def _(s):
        result = await s.call(
            "forecast", {"city": "Köln", "days": 3, "at": {"lat": 50.9, "lon": 7}}
        )
        expected = {
            "city": "Köln",
            "days": [{"day": day, "high": 18, "sky": "clear"} for day in range(3)],
            "sure": True,
        }
        assert json.loads(text(result)) == expected
        assert result.get("structuredContent") == (expected if structured else None)

    @on("the SDK does validate: a result against the schema it knows is refused", since="2025-06-18")
    async def _(s):
        assert (await s.call("count"))["structuredContent"] == {"n": 3}
        await s.call("count_in_words")
        try:
            await s.call("count")
        except RuntimeError as error:
            assert "structured content" in str(error), error
        else:
            raise AssertionError("the wrong result was believed")

    @on("a failure of a tool is a result with isError")
    async def _(s):
        result = await s.call("test_error_handling")
        assert result["isError"] is True
        assert text(result) == "This tool intentionally returns an error for testing"

    # A result since 2025-11-25, so that a model can correct itself; an error before.
    @on("invalid arguments are refused in the way of the revision, and each problem is named")
    async def _(s):

        async def problems(*call):
            if revision < "2025-11-25":
                return (await refused(s.call(*call), -32602)).data["details"]
            result = await s.call(*call)
            assert result["isError"] is True
            return text(result)

        assert "text: required" in await problems("echo", {})
        wrong = await problems("typed", {"i": 11, "c": "blue", "l": [1, "x"], "unknown": 1})
        for name in ("i:", "c:", "l", "unknown"):
            assert name in wrong, wrong

    @on("an unknown tool is refused with -32602")
    async def _(s):
        await refused(s.call("no_such_tool"), -32602, "no_such_tool")

    @on("an error that a handler chose arrives with code, message and data")
    async def _(s):
        error = await refused(
            s.call("reject", {"code": -32050, "why": "because"}), -32050, "refused: because"
        )
        assert error.data == {"why": [1, 2]}

    @on("text of every script comes back as it went")
    async def _(s):
        for sample in (
            "äöü ß € 漢字 한국어 עברית العربية",
            "😀👩‍👩‍👧‍👦🇪🇺 \U0010ffff",
            'line\nfeed\r\ttab "quotes" \\ back/slash \b\f',
            "\u2028\u2029\ufeff\u200d\x01\x1f\x7f\x85",
            "",
        ):
            result = await s.call("echo", {"text": sample})
            assert result["content"][0]["text"] == sample, repr(sample)

    # Over HTTP+SSE v2 takes no more than 1 MB.
    @on("2 MB go there and back", since="2025" if sdk.NAME == "python v2 http" else "")
    async def _(s):
        big = 'Größe: "x"\n' * 170_000
        assert len(big.encode()) > 2_000_000
        assert (await s.call("echo", {"text": big}))["content"][0]["text"] == big

    @on("50 calls are in flight at once, and each gets its own answer")
    async def _(s):
        answers = {}

        async def park(key):
            answers[key] = await s.text("park", {"key": key})

        keys = [f"call {i}" for i in range(50)]
        async with anyio.create_task_group() as group:
            for key in keys:
                group.start_soon(park, key)
            await s.parked(*keys)
            assert await s.text("release", {"key": "call 33"}) == "released call 33"
            assert await s.text("release_all") == "released 49"
        assert answers == {key: f"parked {key}" for key in keys}

    @on("50 calls on worker threads are all answered")
    async def _(s):
        answers = {}

        async def work(i):
            answers[i] = await s.text("block", {"text": f"worker {i}"})

        async with anyio.create_task_group() as group:
            for i in range(50):
                group.start_soon(work, i)
        assert answers == {i: f"worker {i}" for i in range(50)}

    # ---- progress and cancelling ------------------------------------------------------------

    @on("progress arrives in order, with total and message")
    async def _(s):
        seen, came = [], anyio.Event()

        async def progress(done, total, message):
            nonlocal came
            seen.append((done, total, message))
            came.set()
            came = anyio.Event()

        async def until(n):
            while len(seen) < n:
                await came.wait()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: s.call("park", {"key": "k"}, progress=progress))
            await s.parked("k")
            for n, done in enumerate((1, 2.5), 1):
                await s.call("step", {"key": "k", "done": done, "total": 4})
                await within(lambda n=n: until(n), f"progress {n}")
            await s.call("release", {"key": "k"})
        messages = ("step 1", "step 2.5") if revision >= "2025-03-26" else (None, None)
        assert seen == [(1, 4, messages[0]), (2.5, 4, messages[1])], seen

    @on("a cancelled call ends in the handler, and the server lives on")
    async def _(s):
        async with anyio.create_task_group() as group:
            group.start_soon(s.call, "park_until_cancelled", {"key": "k"})
            await s.parked("k")
            await s.cancelling(group.cancel_scope, "park_until_cancelled")
        assert await s.text("parked", {"key": "k"}) == "no"
        assert await s.text("echo", {"text": "alive"}) == "alive"

    # ---- resources --------------------------------------------------------------------------

    @on("resources are listed with all that describes them, as far as the revision knows it")
    async def _(s):
        resources, _ = await s.all("resources")
        full = find(resources, "uri", "shape://full")
        assert (full["name"], full["mimeType"]) == ("full", "text/plain")
        assert full["annotations"]["audience"] == ["user", "assistant"]
        assert full["annotations"]["priority"] == 0.5
        knows = {"title": structured, "_meta": structured, "icons": revision >= "2025-11-25"}
        assert {k: k in full for k in knows} == knows, full
        templates, _ = await s.all("resource_templates")
        find(templates, "uriTemplate", "test://template/{id}/data")

    @on("resources are read: as text, as bytes, by the variable of a template, several contents at once")
    async def _(s):
        said = "This is the content of the static text resource."
        assert (await s.read("test://static-text"))["contents"] == [{**STATIC, "text": said}]
        [binary] = (await s.read("test://static-binary"))["contents"]
        assert binary["mimeType"] == "image/png"
        assert len(base64.b64decode(binary["blob"], validate=True)) == 70
        [item] = (await s.read("test://template/a%20b/data"))["contents"]
        assert item["uri"] == "test://template/a%20b/data"
        expected = {"id": "a b", "templateTest": True, "data": "Data for ID: a b"}
        assert json.loads(item["text"]) == expected
        several = [c["uri"] for c in (await s.read("multi://first"))["contents"]]
        assert several == ["multi://first", "multi://second", "multi://third"]

    @on("what is not there is not found, with the code of the revision")
    async def _(s):
        for uri in ("test://no-such", "item://none"):
            error = await refused(s.read(uri), -32602 if modern else -32002)
            assert error.data == {"uri": uri}

    # ---- prompts and completion ---------------------------------------------------------------

    @on("prompts are listed with their arguments")
    async def _(s):
        prompts, _ = await s.all("prompts")
        review = find(prompts, "name", "review")
        assert ("title" in review) == structured
        arguments = [(a["name"], a.get("required", False)) for a in review["arguments"]]
        assert arguments == [("file", True), ("style", False), ("depth", False)]

    @on("a prompt is got with arguments")
    async def _(s):
        got = await s.prompt("review", {"file": "a.c", "style": "strict"})
        assert got["description"] == "A review, made to measure"
        said = [(m["role"], m["content"]["text"]) for m in got["messages"]]
        assert said == [("user", "Review a.c in style strict."), ("assistant", "Gladly.")]

    @on("a prompt holds images and resources")
    async def _(s):
        image = await s.prompt("test_prompt_with_image")
        assert [m["content"]["type"] for m in image["messages"]] == ["image", "text"]
        embedded = await s.prompt(
            "test_prompt_with_embedded_resource", {"resourceUri": "test://x"}
        )
        assert embedded["messages"][0]["content"]["resource"]["uri"] == "test://x"

    @on("arguments of prompts are completed")
    async def _(s):
        ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
        found = await s.complete(ref, "arg1", "test")
        assert found["values"] == ["testValue1", "testValue2", "testValue3"]

    @on("arguments of prompts are completed by what is known of others", since="2025-06-18")
    async def _(s):
        ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
        found = await s.complete(ref, "arg2", "testValueX", {"arg1": "X"})
        assert found["values"] == ["testValueX1", "testValueX2", "testValueX3"]

    @on("variables of templates are completed")
    async def _(s):
        ref = {"type": "ref/resource", "uri": "test://template/{id}/data"}
        assert (await s.complete(ref, "id", "12"))["values"] == ["123", "124"]

    @on("an unknown method is refused with -32601", when=not sdk.NAME.startswith("python v1"))
    async def _(s):  # v1 cannot send what it does not know
        await refused(s.unknown_method(), -32601)
