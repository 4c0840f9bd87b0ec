"""What server_v1.py and server_v2.py have in common: all that the versions of the SDK are told in the same
way."""

import anyio
from pydantic import BaseModel, Field

INSTRUCTIONS = 'Ask "anything" – politely.'


class Sum(BaseModel):
    sum: float


class Who(BaseModel):
    name: str
    age: int = Field(default=30)


def add_parts(server, types, Context):
    """`types` and `Context` are the SDK's."""
    waited = {"cancelled": 0}

    @server.tool(structured_output=False)
    def echo(text: str) -> str:
        return text

    @server.tool()
    def add(a: float, b: float) -> Sum:
        return Sum(sum=a + b)

    @server.tool(structured_output=False)
    async def steps(n: int, ctx: Context) -> str:
        for i in range(1, n + 1):
            await ctx.report_progress(i, n, f"step {i}")
        return "done"

    @server.tool(structured_output=False)
    async def wait() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            waited["cancelled"] += 1
        return ""

    @server.tool(structured_output=False)
    def cancelled() -> str:
        return str(waited["cancelled"])

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
