"""One connection of an SDK's client to a server process of its own, whatever the SDK's version.

Everything that goes in and out is plain JSON (dicts and lists): the cases are then the same for every
version, and see what was on the wire and not how a version names its attributes. sdk_v1.py and
sdk_v2.py say how to talk to theirs.

Closing a session checks that the server went by itself, with status 0, when its input was closed, and
that neither the SDK nor the server had anything to complain about.
"""

import logging
import os
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from tap import within

BUILD = os.environ.get("CLEAT_BUILD_DIR")
if not BUILD:
    sys.exit("CLEAT_BUILD_DIR says where the server programs are; set it")

# No SDK shows how its server ended, so a shell in between writes it down. Its own copies of the pipes
# are closed: the client must see the server's end, not the shell's.
WITNESS = (
    'exec 3<&0; "$1" <&3 3<&- & exec 3<&- <&- >&-; '
    'echo $! >"$2/pid"; wait $!; echo $? >"$2/status"'
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


class Complaints(logging.Handler):
    """What the SDK logs from warnings on."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.found = []

    def emit(self, record):
        self.found.append(self.format(record))


class Process:
    """The server process, seen from outside."""

    def __init__(self, place):
        self.place = Path(place)
        self.ended = None  # the exit status, once it is known
        self.stderr = open(self.place / "stderr", "w+")

    def command(self, env):
        """What an SDK takes: a command, its arguments and its environment."""
        passed = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        server = str(Path(BUILD) / "tests" / "server_sdk")
        if not os.path.exists(server):
            raise AssertionError(f"{server} is not built")
        return {
            "command": "/bin/sh",
            "args": ["-c", WITNESS, "sh", server, str(self.place)],
            "env": {**passed, **env},
        }

    @property
    def pid(self):
        return int((self.place / "pid").read_text())

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


class Session:
    """What sdk_v1.py and sdk_v2.py derive from. They add: revision, server_info, capabilities,
    instructions; call, page, read, prompt, complete, cancelling, and what only one era has."""

    def __init__(self, process):
        self.process = process
        self.notes = Inbox()
        self.complaints = []
        self.expect_complaints = False

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

    async def settle(self):
        """What the server had to say before this has come: it answers and tells in order."""
        await self.call("echo", {"text": "settled"})
        await self.call("echo", {"text": "settled"})


def text(result):
    return "\n".join(block["text"] for block in result["content"] if "text" in block)


def plain(model):
    """As it was on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


def answering(types, elicit, sample, roots):
    """The SDK's callbacks, from functions on plain JSON. Only what is given is announced."""

    async def elicitation(_context, params):
        return types.ElicitResult.model_validate(await elicit(plain(params)))

    async def sampling(_context, params):
        answer = await sample(plain(params))
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


@asynccontextmanager
async def opened(connect, env):
    """Runs `connect(process)`, an async context manager that gives a Session, and checks how it ends."""
    log = Complaints()
    logging.getLogger().addHandler(log)
    try:
        with tempfile.TemporaryDirectory(prefix="interop") as place:
            process = Process(place)
            async with connect(process, process.command(env)) as session:
                yield session
            process.check_end()
            complaints = session.complaints + log.found
            assert session.expect_complaints or not complaints, f"the SDK complained: {complaints}"
    finally:
        logging.getLogger().removeHandler(log)


async def refused(call, code, contains=""):
    """The call fails with this JSON-RPC code. Gives the error."""
    try:
        result = await call
    except Refused as error:
        assert error.code == code, f"{error.code}, not {code}: {error.message}"
        assert contains in error.message, error.message
        return error
    raise AssertionError(f"was not refused: {result}")
