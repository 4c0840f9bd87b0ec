"""The same server as server_v1.py, written with v2 of the Python SDK: one for both eras.

    python server_v2.py stdio | http PORT
"""

import json
import sys
import warnings
from typing import Annotated

import mcp_types as types
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.shared.exceptions import MCPDeprecationWarning
from server_parts import INSTRUCTIONS, Who, add_parts

warnings.simplefilter("ignore", MCPDeprecationWarning)

server = MCPServer("fixture", version="1.2.3", instructions=INSTRUCTIONS, log_level="ERROR")
add_parts(server, types, Context)


def who() -> Elicit[Who]:
    return Elicit("Who are you?", Who)


def model(prompt: str) -> Sample:
    content = types.TextContent(type="text", text=prompt)
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=50)


def roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def fail() -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="it failed")], is_error=True)


@server.tool(structured_output=False)
async def speak(text: str, ctx: Context) -> str:
    await ctx.log("warning", text, logger_name="fixture")
    return "spoken"


@server.tool(structured_output=False)
async def ask_form(answer: Annotated[ElicitationResult[Who], Resolve(who)]) -> str:
    content = answer.data.model_dump() if answer.action == "accept" else None
    return json.dumps({"action": answer.action, "content": content})


@server.tool(structured_output=False)
async def ask_model(prompt: str, answer: Annotated[types.CreateMessageResult, Resolve(model)]) -> str:
    return f"{answer.model}: {answer.content.text}"


@server.tool(structured_output=False)
async def ask_roots(answer: Annotated[types.ListRootsResult, Resolve(roots)]) -> str:
    return json.dumps([{"uri": str(root.uri)} for root in answer.roots])


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    server.add_tool(lambda: "grown", name="grown", structured_output=False)
    await ctx.notify_tools_changed()
    return "grew"


@server.tool(structured_output=False)
async def touch(ctx: Context) -> str:
    await ctx.notify_resource_updated("test://watched")
    return "test://watched"


if sys.argv[1] == "http":
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run("stdio")
