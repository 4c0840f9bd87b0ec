"""What only a network has: sessions with ids that end and get lost, connections that break, several clients
of one server, tokens, arguments that are repeated in headers."""

import tempfile
import urllib.error
import urllib.request
from contextlib import asynccontextmanager

import anyio
from cases import raises
from session import Answer
from tap import cases_of, within

WATCHED = "test://watched-resource"
TOKEN = "correct-horse-battery-staple"


def status_of(url, session, method):
    """The status of a request that no SDK would make."""
    headers = {"Mcp-Session-Id": session, "Content-Type": "application/json", "Accept": "*/*"}
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}' if method == "POST" else None
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


async def enter(manager):
    async with manager:
        pass


class Path:
    """A way to a server that can be cut: what goes through it is passed on, until it is not."""

    def __init__(self, server):
        self.address = server.url.split("/")[2].split(":")
        self.path = server.url.split("/", 3)[3]
        self.open = set()

    async def carry(self, near):
        async def pass_on(source, target):
            try:
                async for chunk in source:
                    await target.send(chunk)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass
            scope.cancel()

        async with near, await anyio.connect_tcp(self.address[0], int(self.address[1])) as far:
            async with anyio.create_task_group() as group:
                scope = group.cancel_scope
                self.open.add(scope)
                group.start_soon(pass_on, near, far)
                group.start_soon(pass_on, far, near)
            self.open.discard(scope)

    def cut(self):
        for scope in self.open:
            scope.cancel()

    @asynccontextmanager
    async def laid(self):
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        self.url = f"http://127.0.0.1:{port}/{self.path}"
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, self.carry)
            yield self
            group.cancel_scope.cancel()


def network_cases(sdk, revision):
    modern = revision >= "2026"
    sessions = "2025" <= revision < "2026"

    it, on, open_ = cases_of(sdk, revision)

    @on("a session has an id, and is over when its client closes", when=sessions)
    async def _(s):
        async with open_(process=s.process) as other:
            ids = {a.session for a in other.answers if a.session}
            assert len(ids) == 1, ids
            assert ids != {a.session for a in s.answers if a.session}
            [gone] = ids
            assert status_of(s.process.url, gone, "POST") == 200
        assert other.answers[-1].method == "DELETE", other.answers
        assert status_of(s.process.url, gone, "POST") == 404
        assert await s.text("echo", {"text": "alive"}) == "alive"

    @on("a client whose session is not there any more is told so", when=sessions)
    async def _(s):
        [own] = {a.session for a in s.answers if a.session}
        assert status_of(s.process.url, own, "DELETE") == 204
        s.expect_complaints = True  # it also wants to end the session, and cannot
        await raises(s.call("echo", {"text": "x"}))
        assert s.answers[-1].status == 404

    @on("no session is made", when=modern)
    async def _(s):
        await s.call("echo", {"text": "x"})
        assert all(a == Answer("POST", 200, "application/json", None) for a in s.answers)

    @on("an answer alone is JSON, one with something before it an event stream", when=revision >= "2025")
    async def _(s):

        async def progress(*_):
            pass

        await s.call("progress", {"steps": [1, 2]})
        assert s.answers[-1].type == "application/json", s.answers
        await s.call("progress", {"steps": [1, 2]}, progress=progress)
        assert s.answers[-1].type == "text/event-stream", s.answers

    @on("a client that is sent away comes back for the answer", when=revision == "2025-11-25")
    async def _(s):
        assert await s.text("test_reconnection") == "Reconnection test completed"
        resumed = [a for a in s.answers if a.method == "GET" and a.type == "text/event-stream"]
        assert len(resumed) == 2, s.answers  # the one that listens, and this one

    @on("a call whose connection breaks is answered on another one", when=sessions)
    async def _(s):
        async with Path(s.process).laid() as path, open_(process=path) as cut:
            seen, heard = [], anyio.Event()

            async def progress(done, *_):
                heard.set()

            async def park():
                seen.append(await cut.text("park", {"key": "k"}, progress=progress))

            async with anyio.create_task_group() as group:
                group.start_soon(park)
                await s.parked("k")
                await s.call("step", {"key": "k", "done": 1, "total": 2})
                await within(heard.wait, "progress")
                path.cut()
                await s.call("release", {"key": "k"})
            assert seen == ["parked k"]

    @on("a call whose connection breaks is cancelled", when=modern)
    async def _(s):
        async with Path(s.process).laid() as path, anyio.create_task_group() as group:

            async def park():
                async with open_(process=path) as cut:
                    await cut.call("park_until_cancelled", {"key": "k"})

            group.start_soon(raises, park())  # v2 gives the whole client up
            await s.parked("k")
            path.cut()
            while await s.text("parked", {"key": "k"}) == "yes":
                pass

    @it("of two clients each is told what it asked for, and no more")
    async def _():
        async with open_() as s, open_(process=s.process) as other:
            if modern:
                async with s.client.listen(resource_subscriptions=[WATCHED]) as sub:
                    await other.call("touch", {"uri": WATCHED})
                    await within(sub.__anext__, "the change")
            else:
                await s.subscribe(WATCHED)
                await other.call("touch", {"uri": WATCHED})
                await s.notes.take("notifications/resources/updated")
            await other.settle()
            assert other.notes.of("notifications/resources/updated") == []

    @it("of two clients each is asked what concerns it", when=revision >= "2025-06-18")
    async def _():
        def user(name):
            async def elicit(_params):
                return {"action": "accept", "content": {"username": name, "email": f"{name}@x.org"}}

            return elicit

        async with open_(elicit=user("a")) as s, open_(process=s.process, elicit=user("b")) as other:
            said = {}

            async def ask(who, session):
                for _ in range(5):
                    said[who] = await session.text("test_elicitation", {"message": "Who?"})
                    assert f'"username":"{who}"' in said[who]

            async with anyio.create_task_group() as group:
                group.start_soon(ask, "a", s)
                group.start_soon(ask, "b", other)
            assert len(said) == 2

    @it("who has a token is served, and who has none, or a wrong one, is not")
    async def _():
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"ann {TOKEN}\n")
            file.flush()
            args = ["--token-file", file.name]
            async with open_(args=args, headers={"Authorization": f"Bearer {TOKEN}"}) as s:
                assert await s.text("echo", {"text": "in"}) == "in"
                for headers in ({}, {"Authorization": f"Bearer {TOKEN}s"}):
                    await raises(enter(open_(process=s.process, headers=headers)))
                assert status_of(s.process.url, "none", "POST") == 401

    @on("arguments that a header repeats arrive, whatever characters they have", when=modern)
    async def _(s):
        await s.all("tools")  # what is repeated stands there
        for region in ("us-west1", "Köln", " spaced ", "=?base64?x?=", ""):
            assert await s.text("test_x_mcp_header", {"region": region}) == f"region={region}"
