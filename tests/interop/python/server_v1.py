"""A server written with v1 of the Python SDK, for our client: what tests/e2e/lib/client_cases.mjs expects.

    python server_v1.py stdio | http PORT
"""

import json
import sys

import mcp.types as types
from mcp.server.fastmcp import Context, FastMCP
from server_parts import INSTRUCTIONS, Who, add_parts

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
server = FastMCP("fixture", instructions=INSTRUCTIONS, log_level="ERROR")
server._mcp_server.version = "1.2.3"
state = {"level": "debug"}
add_parts(server, types, Context)


@server._mcp_server.set_logging_level()
async def set_level(level):
    state["level"] = level


@server.tool(structured_output=False)
def fail() -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="it failed")], isError=True)


@server.tool(structured_output=False)
async def speak(text: str, ctx: Context) -> str:
    if LEVELS.index("warning") >= LEVELS.index(state["level"]):
        await ctx.session.send_log_message("warning", text, logger="fixture", related_request_id=ctx.request_id)
    return "spoken"


@server.tool(structured_output=False)
async def ask_form(ctx: Context) -> str:
    answer = await ctx.elicit("Who are you?", Who)
    return json.dumps(
        {"action": answer.action, "content": answer.data.model_dump() if answer.action == "accept" else None}
    )


@server.tool(structured_output=False)
async def ask_model(prompt: str, ctx: Context) -> str:
    content = types.TextContent(type="text", text=prompt)
    answer = await ctx.session.create_message(
        [types.SamplingMessage(role="user", content=content)], max_tokens=50, related_request_id=ctx.request_id
    )
    return f"{answer.model}: {answer.content.text}"


@server.tool(structured_output=False)
async def ask_roots(ctx: Context) -> str:
    answer = await ctx.session.list_roots()
    return json.dumps([{"uri": str(root.uri)} for root in answer.roots])


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    server.add_tool(lambda: "grown", name="grown", structured_output=False)
    await ctx.session.send_tool_list_changed()
    return "grew"


@server.tool(structured_output=False)
async def touch(ctx: Context) -> str:
    await ctx.session.send_resource_updated("test://watched")
    return "test://watched"


if sys.argv[1] == "http":
    server.settings.port = int(sys.argv[2])
    server.settings.log_level = "INFO"  # says that it listens
    server.run("streamable-http")
else:
    server.run("stdio")
