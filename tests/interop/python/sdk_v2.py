"""v2 of the Python SDK (`mcp.Client`), in either era, behind the interface that the cases use."""

import warnings
from contextlib import asynccontextmanager
from functools import partial

import mcp.client.session
import mcp.types as types
from mcp import Client, MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from session import OVER_HTTP, Refused, Session, opened, plain
from streams import streams

warnings.simplefilter("ignore", MCPDeprecationWarning)

NAME = "python v2 http" if OVER_HTTP else "python v2"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
MODERN = "2026-07-28"


class SessionV2(Session):
    where = str

    @asynccontextmanager
    async def connect(self, revision, headers, mode=None, **options):
        """`mode` overrides how the revision is agreed on."""
        if revision != MODERN:
            # What initialize offers; there is no option for it.
            mcp.client.session.LATEST_HANDSHAKE_VERSION = revision
        mode = mode or ("auto" if revision == MODERN else "legacy")
        info = types.Implementation(name="interop-python", version="2.0")
        pair = streams(self, revision, headers)
        async with Client(pair, mode=mode, client_info=info, message_handler=self.heard, **options) as client:
            self.client = client
            self.revision = client.protocol_version
            self.server_info = client.server_info and plain(client.server_info)
            self.capabilities = plain(client.server_capabilities)
            self.instructions = client.instructions
            yield

    async def sent(self, call):
        try:
            return plain(await call)
        except MCPError as error:
            raise Refused(error.code, error.message, error.data) from error

    async def heard(self, message):
        if isinstance(message, Exception):
            self.complaints.append(repr(message))
        else:
            self.hear(message)

    def listing(self, of, cursor):
        return of(cursor=cursor)

    async def call(self, name, arguments=None, progress=None, timeout=None, meta=None):
        return await self.sent(
            self.client.call_tool(
                name,
                arguments or {},
                progress_callback=progress,
                read_timeout_seconds=timeout,
                meta=meta,
            )
        )

    async def unknown_method(self):
        request = types.Request[dict, str](method="no/such", params={})
        await self.sent(self.client.session.send_request(request, types.EmptyResult))

    async def cancelling(self, scope, name):
        """v2 tells the server itself when the scope of a call is cancelled."""
        scope.cancel()

    # -- 2026-07-28

    async def call_by_hand(self, name, responses=None, state=None):
        """One round only: a result that asks is given back."""
        return await self.sent(
            self.client.session.call_tool(
                name, {}, input_responses=responses, request_state=state, allow_input_required=True
            )
        )


open_session = partial(opened, SessionV2)
