"""v2 of the Python SDK (`mcp.Client`), in either era, behind the interface that the cases use."""

import warnings
from contextlib import asynccontextmanager

import mcp.client.session
import mcp.types as types
from mcp import Client, MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from session import OVER_HTTP, Refused, Session, answering, opened, plain
from streams import streams

warnings.simplefilter("ignore", MCPDeprecationWarning)

NAME = "python v2 http" if OVER_HTTP else "python v2"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
MODERN = "2026-07-28"


async def sent(call):
    try:
        return plain(await call)
    except MCPError as error:
        raise Refused(error.code, error.message, error.data) from error


class SessionV2(Session):
    client = None

    def connected(self, client):
        self.client = client
        self.revision = client.protocol_version
        self.server_info = client.server_info and plain(client.server_info)
        self.capabilities = plain(client.server_capabilities)
        self.instructions = client.instructions

    async def heard(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
        else:
            note = plain(message)
            self.notes.push(note["method"], note.get("params"))

    async def call(self, name, arguments=None, progress=None, timeout=None, meta=None):
        return await sent(
            self.client.call_tool(
                name,
                arguments or {},
                progress_callback=progress,
                read_timeout_seconds=timeout,
                meta=meta,
            )
        )

    async def page(self, kind, cursor):
        listing = getattr(self.client, f"list_{kind}")
        result = await sent(listing(cursor=cursor))
        [items] = [v for k, v in result.items() if isinstance(v, list)]
        return items, result.get("nextCursor")

    def read(self, uri):
        return sent(self.client.read_resource(uri))

    def prompt(self, name, arguments=None):
        return sent(self.client.get_prompt(name, arguments))

    async def complete(self, ref, name, value, context=None):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        result = await sent(
            self.client.complete(kind.model_validate(ref), {"name": name, "value": value}, context)
        )
        return result["completion"]

    async def unknown_method(self):
        request = types.Request[dict, str](method="no/such", params={})
        await sent(self.client.session.send_request(request, types.EmptyResult))

    async def cancelling(self, scope, name):
        """v2 tells the server itself when the scope of a call is cancelled."""
        scope.cancel()

    # -- up to 2025-11-25

    def ping(self):
        return sent(self.client.send_ping())

    def set_level(self, level):
        return sent(self.client.set_logging_level(level))

    def subscribe(self, uri):
        return sent(self.client.subscribe_resource(uri))

    def unsubscribe(self, uri):
        return sent(self.client.unsubscribe_resource(uri))

    def roots_changed(self):
        return self.client.send_roots_list_changed()

    # -- 2026-07-28

    async def call_by_hand(self, name, responses=None, state=None):
        """One round only: a result that asks is given back."""
        return await sent(
            self.client.session.call_tool(
                name, {}, input_responses=responses, request_state=state, allow_input_required=True
            )
        )


def open_session(
    revision,
    *,
    env=None,
    args=(),
    process=None,
    headers=None,
    elicit=None,
    sample=None,
    sampling_tools=False,
    roots=None,
    mode=None,
    **more,
):
    """An async context manager. `revision` is the one to offer, `mode` overrides how."""

    @asynccontextmanager
    async def connect(process):
        session = SessionV2(process)
        if revision != MODERN:
            # What initialize offers; there is no option for it.
            mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
        if sampling_tools:
            more["sampling_capabilities"] = types.SamplingCapability(
                tools=types.SamplingToolsCapability()
            )
        client = Client(
            streams(session, revision, headers),
            mode=mode or ("auto" if revision == MODERN else "legacy"),
            client_info=types.Implementation(name="interop-python", version="2.0"),
            message_handler=session.heard,
            **answering(types, elicit, sample, roots),
            **more,
        )
        async with client:
            session.connected(client)
            yield session

    return opened(connect, env=env, args=args, process=process)
