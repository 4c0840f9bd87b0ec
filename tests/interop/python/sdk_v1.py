"""v1 of the Python SDK (`mcp.ClientSession`), which knows the revisions up to 2025-11-25, behind the
interface that the cases use."""

from contextlib import asynccontextmanager
from datetime import timedelta

import mcp.types as types
from mcp import ClientSession, McpError
from pydantic import AnyUrl
from session import OVER_HTTP, Refused, Session, answering, opened, plain
from streams import streams

NAME = "python v1 http" if OVER_HTTP else "python v1"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


async def sent(call):
    try:
        return plain(await call)
    except McpError as error:
        raise Refused(error.error.code, error.error.message, error.error.data) from error


class SessionV1(Session):
    client = None

    def connected(self, client, result):
        self.client = client
        self.revision = result.protocolVersion
        self.server_info = plain(result.serverInfo)
        self.capabilities = plain(result.capabilities)
        self.instructions = result.instructions

    async def heard(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
        elif isinstance(message, types.ServerNotification):
            note = plain(message)
            self.notes.push(note["method"], note.get("params"))

    async def call(self, name, arguments=None, progress=None, timeout=None, meta=None):
        return await sent(
            self.client.call_tool(
                name,
                arguments or {},
                read_timeout_seconds=timeout and timedelta(seconds=timeout),
                progress_callback=progress,
                meta=meta,
            )
        )

    async def page(self, kind, cursor):
        listing = getattr(self.client, f"list_{kind}")
        result = await sent(listing(params=types.PaginatedRequestParams(cursor=cursor)))
        [items] = [v for k, v in result.items() if isinstance(v, list)]
        return items, result.get("nextCursor")

    def read(self, uri):
        return sent(self.client.read_resource(AnyUrl(uri)))

    def prompt(self, name, arguments=None):
        return sent(self.client.get_prompt(name, arguments))

    async def complete(self, ref, name, value, context=None):
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        result = await sent(
            self.client.complete(kind.model_validate(ref), {"name": name, "value": value}, context)
        )
        return result["completion"]

    unknown_method = None  # v1 cannot send what it does not know

    async def cancelling(self, scope, name):
        """v1 says nothing to the server when a call is given up, so its user has to."""
        # The call to cancel is the first one after initialize that was not answered.
        open_calls = sorted(self.client._response_streams)
        await self.client.send_notification(
            types.ClientNotification(
                types.CancelledNotification(
                    params=types.CancelledNotificationParams(requestId=open_calls[0], reason="enough")
                )
            )
        )
        scope.cancel()

    def ping(self):
        return sent(self.client.send_ping())

    def set_level(self, level):
        return sent(self.client.set_logging_level(level))

    def subscribe(self, uri):
        return sent(self.client.subscribe_resource(AnyUrl(uri)))

    def unsubscribe(self, uri):
        return sent(self.client.unsubscribe_resource(AnyUrl(uri)))

    def roots_changed(self):
        return self.client.send_roots_list_changed()


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
    **more,
):
    """An async context manager. `revision` is the one to offer."""

    @asynccontextmanager
    async def connect(process):
        session = SessionV1(process)
        types.LATEST_PROTOCOL_VERSION = revision  # what initialize offers; there is no option for it
        if sampling_tools:
            more["sampling_capabilities"] = types.SamplingCapability(
                tools=types.SamplingToolsCapability()
            )
        async with streams(session, revision, headers) as pair:
            client = ClientSession(
                *pair,
                client_info=types.Implementation(name="interop-python", version="1.0"),
                message_handler=session.heard,
                **answering(types, elicit, sample, roots),
                **more,
            )
            async with client:
                session.connected(client, await client.initialize())
                yield session

    return opened(connect, env=env, args=args, process=process)
