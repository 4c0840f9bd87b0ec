"""One connection of an SDK's client to a server process of its own, whatever the SDK's version and the
transport.

Everything that goes in and out is plain JSON (dicts and lists): the cases are then the same for every
version, and see what was on the wire and not how a version names its attributes. sdk_v1.py and
sdk_v2.py say how to talk to theirs.

Closing a session checks that the server went with status 0, by itself when its input was closed (stdio)
or when it was asked to (HTTP), and that neither the SDK nor the server had anything to complain about.
"""

import itertools
import logging
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import anyio
import mcp.types as types
from tap import within

BUILD = os.environ.get("CLEAT_BUILD_DIR")
if not BUILD:
    sys.exit("CLEAT_BUILD_DIR says where the server programs are; set it")

OVER_HTTP = "http" in sys.argv[2:]

# No SDK shows how its server ended, so a shell in between writes it down. Its own copies of the pipes
# are closed: the client must see the server's end, not the shell's.
WITNESS = (
    'exec 3<&0; server=$1 place=$2; shift 2; "$server" "$@" <&3 3<&- & exec 3<&- <&- >&-; '
    'echo $! >"$place/pid"; wait $!; echo $? >"$place/status"'
)


class Refused(Exception):
    """A JSON-RPC error, from whichever SDK."""

    def __init__(self, code, message, data=None):
        super().__init__(f"{code} {message}")
        self.code, self.message, self.data = code, message, data


class Inbox:
    """Notifications, in the order they came: (method, params)."""

    def __init__(self):
        self.items = []
        self._more = anyio.Event()

    def push(self, method, params):
        self.items.append((method, params or {}))
        self._more.set()
        self._more = anyio.Event()

    def of(self, method):
        return [params for m, params in self.items if m == method]

    async def take(self, method, n=1):
        """The params of the n-th notification of a method, when it has come."""

        async def wait():
            while len(self.of(method)) < n:
                await self._more.wait()
            return self.of(method)[n - 1]

        return await within(wait, f"{method} number {n}")

    async def when(self, method, test):
        """The params of the first notification of a method that passes a test."""

        async def wait():
            while not (found := [params for params in self.of(method) if test(params)]):
                await self._more.wait()
            return found[0]

        return await within(wait, f"a certain {method}")


class Complaints(logging.Handler):
    """What the SDK logs from warnings on."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.found = []

    def emit(self, record):
        self.found.append(self.format(record))


def program():
    """The server's path, and what of the environment it is given."""
    path = Path(BUILD) / "tests" / "server_sdk"
    if not path.exists():
        raise AssertionError(f"{path} is not built")
    return str(path), {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}


class Piped:
    """A server that an SDK starts and talks to over pipes, seen from outside."""

    url = None

    def __init__(self, env, args):
        path, passed = program()
        self.directory = tempfile.TemporaryDirectory(prefix="interop")
        self.place = Path(self.directory.name)
        self.ended = None  # the exit status, once it is known
        self.stderr = open(self.place / "stderr", "w+")
        # What an SDK takes.
        self.command = {
            "command": "/bin/sh",
            "args": ["-c", WITNESS, "sh", path, str(self.place), *args],
            "env": {**passed, **env},
        }

    @property
    def pid(self):
        return int((self.place / "pid").read_text())

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)

    def alive(self):
        try:
            os.kill(self.pid, 0)
            return True
        except ProcessLookupError:
            return False

    def check_end(self):
        self.stderr.seek(0)
        said = self.stderr.read()
        self.stderr.close()
        assert not self.alive(), f"process {self.pid} is still there"
        status = self.place / "status"
        assert status.exists(), "the SDK lost patience and killed the server"
        self.ended = int(status.read_text())
        assert self.ended == 0, f"the server ended with status {self.ended}"
        assert not said, f"the server wrote to standard error: {said}"

    def kill(self):
        self.directory.cleanup()  # the SDK has ended it, or has failed and said so


class Listening:
    """A server that listens on a port of its own, and ends when it is asked to."""

    def __init__(self, env, args):
        path, passed = program()
        self.ended = None
        self.process = subprocess.Popen(
            [path, "--http", "127.0.0.1:0", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**passed, **env},
            text=True,
        )
        said = self.process.stderr.readline()
        assert " listening on " in said, f"the server did not start: {said}"
        self.url = said.split()[-1]
        self.asked = False

    def stop(self):
        if not self.asked:  # a second signal would end it at once
            self.process.send_signal(signal.SIGTERM)
        self.asked = True

    def check_end(self):
        self.stop()
        self.ended = self.process.wait(timeout=20)
        said = self.process.stderr.read()
        assert self.ended == 0, f"the server ended with status {self.ended}: {said}"
        assert not said, f"the server wrote to standard error: {said}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


class Session:
    """What sdk_v1.py and sdk_v2.py derive from. They add: connect (an async context manager: what runs while
    the session does), revision, server_info, capabilities, instructions; sent (what a call came to), listing
    (a page of a list), where (how they write a URI), call, cancelling, and what only one era has."""

    settled = itertools.count(1)

    def __init__(self, process):
        self.process = process
        self.client = None
        self.notes = Inbox()
        self.asked = []  # what the server asked
        self.answers = []  # HTTP: an Answer for each, in the order of their headers
        self.complaints = []
        self.expect_complaints = False

    def hear(self, note):
        note = plain(note)
        self.notes.push(note["method"], note.get("params"))

    async def page(self, kind, cursor):
        result = await self.sent(self.listing(getattr(self.client, f"list_{kind}"), cursor))
        [items] = [v for k, v in result.items() if isinstance(v, list)]
        return items, result.get("nextCursor")

    def read(self, uri):
        return self.sent(self.client.read_resource(self.where(uri)))

    def prompt(self, name, arguments=None):
        return self.sent(self.client.get_prompt(name, arguments))

    async def complete(self, ref, name, value, context=None):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        argument = {"name": name, "value": value}
        return (await self.sent(self.client.complete(kind.model_validate(ref), argument, context)))["completion"]

    # -- up to 2025-11-25

    def ping(self):
        return self.sent(self.client.send_ping())

    def set_level(self, level):
        return self.sent(self.client.set_logging_level(level))

    def subscribe(self, uri):
        return self.sent(self.client.subscribe_resource(self.where(uri)))

    def unsubscribe(self, uri):
        return self.sent(self.client.unsubscribe_resource(self.where(uri)))

    def roots_changed(self):
        return self.client.send_roots_list_changed()

    # -- of them

    async def all(self, kind):
        """A whole list, and of how many pages it was."""
        items, cursor, pages = [], None, 0
        while True:
            page, cursor = await self.page(kind, cursor)
            items += page
            pages += 1
            if cursor is None:
                return items, pages

    async def text(self, name, arguments=None, **options):
        """Calls a tool; the text of its answer."""
        return text(await self.call(name, arguments, **options))

    async def parked(self, *keys):
        """Waits until a call waits in the server under each of these keys."""
        for key in keys:
            while await self.text("parked", {"key": key}) == "no":
                pass

    async def settle(self):
        """What the server had to say before this has come: it answers and tells in order."""
        await self.call("echo", {"text": "settled"})
        await self.call("echo", {"text": "settled"})
        if self.process.url and self.revision < "2026":
            # What was not asked for comes on another connection, in an order of its own.
            mark = f"settled {next(self.settled)}"
            await self.set_level("warning")
            await self.call("announce", {"text": mark})
            await self.notes.when("notifications/message", lambda note: note.get("data") == mark)


def text(result):
    return "\n".join(block["text"] for block in result["content"] if "text" in block)


def plain(model):
    """As it was on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


def answering(session, elicit, sample, roots):
    """The SDK's callbacks, from functions on plain JSON. Only what is given is announced."""

    def asked(params):
        session.asked.append(plain(params))
        return session.asked[-1]

    async def elicitation(_context, params):
        return types.ElicitResult.model_validate(await elicit(asked(params)))

    async def sampling(_context, params):
        answer = await sample(asked(params))
        if "error" in answer:
            return types.ErrorData.model_validate(answer["error"])
        with_tools = isinstance(answer["content"], list)
        kind = types.CreateMessageResultWithTools if with_tools else types.CreateMessageResult
        return kind.model_validate(answer)

    async def list_roots(_context):
        return types.ListRootsResult.model_validate({"roots": roots()})

    return {
        "elicitation_callback": elicitation if elicit else None,
        "sampling_callback": sampling if sample else None,
        "list_roots_callback": list_roots if roots else None,
    }


class Answer(NamedTuple):
    """What is worth knowing of an HTTP answer."""

    method: str
    status: int
    type: str
    session: str | None

    @classmethod
    def of(cls, response):
        get = response.headers.get
        kind = get("content-type", "").partition(";")[0]
        return cls(response.request.method, response.status_code, kind, get("mcp-session-id"))


@asynccontextmanager
async def opened(kind, revision, *, env=None, args=(), process=None, headers=None, elicit=None, sample=None,
                 sampling_tools=False, roots=None, **more):
    """A session of this kind, and checks how it ends. `revision` is the one to offer; `process`: a server
    that runs already, and goes on to."""
    log = Complaints()
    logging.getLogger().addHandler(log)
    own = None if process else (Listening if OVER_HTTP else Piped)(env or {}, args)
    if sampling_tools:
        more["sampling_capabilities"] = types.SamplingCapability(tools=types.SamplingToolsCapability())
    try:
        session = kind(own or process)
        async with session.connect(revision, headers, **answering(session, elicit, sample, roots), **more):
            yield session
        if own:
            own.check_end()
        complaints = session.complaints + log.found
        assert session.expect_complaints or not complaints, f"the SDK complained: {complaints}"
    finally:
        logging.getLogger().removeHandler(log)
        if own:
            own.kill()


async def refused(call, code, contains=""):
    """The call fails with this JSON-RPC code. Gives the error."""
    try:
        result = await call
    except Refused as error:
        assert error.code == code, f"{error.code}, not {code}: {error.message}"
        assert contains in error.message, error.message
        return error
    raise AssertionError(f"was not refused: {result}")
