"""v1 of the Python SDK (`mcp.ClientSession`), which knows the revisions up to 2025-11-25, behind the
interface that the cases use."""

from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import mcp.types as types
from mcp import ClientSession, McpError
from pydantic import AnyUrl
from session import OVER_HTTP, Refused, Session, opened, plain
from streams import streams

NAME = "python v1 http" if OVER_HTTP else "python v1"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


class SessionV1(Session):
    where = AnyUrl

    @asynccontextmanager
    async def connect(self, revision, headers, **options):
        types.LATEST_PROTOCOL_VERSION = revision  # what initialize offers; there is no option for it
        info = types.Implementation(name="interop-python", version="1.0")
        async with streams(self, revision, headers) as pair:
            async with ClientSession(*pair, client_info=info, message_handler=self.heard, **options) as client:
                result = await client.initialize()
                self.client = client
                self.revision = result.protocolVersion
                self.server_info = plain(result.serverInfo)
                self.capabilities = plain(result.capabilities)
                self.instructions = result.instructions
                yield

    async def sent(self, call):
        try:
            return plain(await call)
        except McpError as error:
            raise Refused(error.error.code, error.error.message, error.error.data) from error

    async def heard(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
        elif isinstance(message, types.ServerNotification):
            self.hear(message)

    def listing(self, of, cursor):
        return of(params=types.PaginatedRequestParams(cursor=cursor))

    async def call(self, name, arguments=None, progress=None, timeout=None, meta=None):
        return await self.sent(
            self.client.call_tool(
                name,
                arguments or {},
                read_timeout_seconds=timeout and timedelta(seconds=timeout),
                progress_callback=progress,
                meta=meta,
            )
        )

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


open_session = partial(opened, SessionV1)
