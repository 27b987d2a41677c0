"""A host built on the Python SDK: performs a host's steps with the server named by its arguments, and prints the results as JSON.

    client.py stdio COMMAND ARGUMENT…
    client.py http URL TOKEN
"""
import asyncio
import json
import os
import sys

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

questions = []


async def agree(_context, params):
    questions.append(params.message)
    return types.ElicitResult(action="accept", content={"decision": "once"})


async def drive(client):
    said = {"protocol": client.protocol_version}
    said["tools"] = [tool.name for tool in (await client.list_tools()).tools]
    hover = await client.call_tool("lsp_hover", {"path": "greet/messages.py", "symbol": "compose"})
    said["hover"] = hover.structured_content
    edits = [{"old": "shout: bool = False", "new": "loud: bool = False"}]
    edit = await client.call_tool("edit", {"path": "greet/messages.py", "edits": edits, "diagnostics": True})
    said["edit"] = edit.structured_content
    run = await client.call_tool("bash", {"command": "echo ran"})
    said["ran"] = run.structured_content
    slow = asyncio.create_task(client.call_tool("bash", {"command": "touch begun; sh -c 'sleep 60; :' " + os.environ["MARKER"]}))
    while not os.path.exists("begun"):
        assert not slow.done(), slow.result()
        await asyncio.sleep(0.02)
    slow.cancel()
    said["cancelled"] = isinstance((await asyncio.gather(slow, return_exceptions=True))[0], asyncio.CancelledError)
    said["after"] = (await client.call_tool("read", {"path": "greet/people.py"})).structured_content["ok"]
    return said


async def main(kind, *rest):
    if kind == "stdio":
        server = StdioServerParameters(command=rest[0], args=list(rest[1:]), env=dict(os.environ))
        async with Client(server, elicitation_callback=agree) as client:
            return await drive(client)
    headers = {"Authorization": f"Bearer {rest[1]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60)) as http:
        transport = streamable_http_client(rest[0], http_client=http)
        async with Client(transport, elicitation_callback=agree) as client:
            return await drive(client)


print(json.dumps({**asyncio.run(main(*sys.argv[1:])), "questions": questions}))
