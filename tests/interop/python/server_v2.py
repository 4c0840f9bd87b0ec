"""The same server as server_v1.py, written with v2 of the Python SDK: one for both eras.

    python server_v2.py stdio | http PORT
"""

import json
import sys
import warnings
from typing import Annotated

import anyio
import mcp_types as types
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import BaseModel, Field

warnings.simplefilter("ignore", MCPDeprecationWarning)

server = MCPServer("fixture", version="1.2.3", instructions='Ask "anything" – politely.', log_level="ERROR")
state = {"cancelled": 0}


class Sum(BaseModel):
    sum: float


class Who(BaseModel):
    name: str
    age: int = Field(default=30)


def who() -> Elicit[Who]:
    return Elicit("Who are you?", Who)


def model(prompt: str) -> Sample:
    content = types.TextContent(type="text", text=prompt)
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=50)


def roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool()
def add(a: float, b: float) -> Sum:
    return Sum(sum=a + b)


@server.tool(structured_output=False)
def fail() -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text="it failed")], is_error=True)


@server.tool(structured_output=False)
async def steps(n: int, ctx: Context) -> str:
    for i in range(1, n + 1):
        await ctx.report_progress(i, n, f"step {i}")
    return "done"


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
async def wait() -> str:
    try:
        await anyio.sleep_forever()
    finally:
        state["cancelled"] += 1
    return ""


@server.tool(structured_output=False)
def cancelled() -> str:
    return str(state["cancelled"])


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    server.add_tool(lambda: "grown", name="grown", structured_output=False)
    await ctx.notify_tools_changed()
    return "grew"


@server.tool(structured_output=False)
async def touch(ctx: Context) -> str:
    await ctx.notify_resource_updated("test://watched")
    return "test://watched"


@server.resource("test://text", name="text", mime_type="text/plain")
def text() -> str:
    return "some text"


@server.resource("test://blob", name="blob", mime_type="application/octet-stream")
def blob() -> bytes:
    return b"\x00\x01\x02\xff"


@server.resource("test://watched", name="watched")
def watched() -> str:
    return "watched"


@server.resource("test://item/{id}", name="item")
def item(id: str) -> str:
    return f"item {id}"


@server.prompt()
def greet(name: str) -> str:
    return f"Hello {name}"


@server.completion()
async def complete(ref, argument, context):
    values = [known for known in ["Ann", "Anna", "Bob"] if known.startswith(argument.value)]
    return types.Completion(values=values)


if sys.argv[1] == "http":
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run("stdio")
