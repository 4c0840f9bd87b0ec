"""The transports of the Python SDK: what v1 and v2 have in common."""

from contextlib import asynccontextmanager

from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from session import Answer


@asynccontextmanager
async def streams(session, revision, headers):
    """To the server and from it, over the transport that the revision has."""
    process = session.process
    if not process.url:
        command = StdioServerParameters(**process.command)
        async with stdio_client(command, errlog=process.stderr) as pair:
            yield pair
    elif revision == "2024-11-05":
        async with sse_client(process.url.replace("/mcp", "/sse"), headers=headers) as pair:
            yield pair
    else:

        async def answered(response):
            session.answers.append(Answer.of(response))

        async with create_mcp_http_client(headers) as http:
            http.event_hooks["response"].append(answered)
            async with streamable_http_client(process.url, http_client=http) as both:
                yield both[:2]  # v1 gives a third thing
