"""The adder of examples/hello.c on the official Python SDK, for bench/pipe.c."""
from mcp.server.fastmcp import FastMCP

server = FastMCP("adder")


@server.tool()
def add(a: float, b: float) -> str:
    """Add two numbers"""
    return f"{a + b:g}"


server.run()
