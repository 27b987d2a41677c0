"""The first session of an agent, on the Python SDK: reads, edits twice, runs the code and a command that edits, and undoes
an edit. Prints the structured content of each answer.

    first_session.py COMMAND ARGUMENT…
"""
import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def agree(_context, _params):
    return types.ElicitResult(action="accept", content={"decision": "once"})


STEPS = [
    ("list", "list", {}),
    ("glob", "glob", {"pattern": "**/*.py"}),
    ("grep", "grep", {"pattern": "def compose"}),
    ("read", "read", {"path": "greet/messages.py"}),
    ("first", "edit", {"path": "greet/messages.py", "edits": [{"old": "def compose(", "new": "# Greets.\ndef compose("}]}),
    ("second", "edit", {"path": "greet/messages.py", "edits": [{"old": "person: Person, *,", "new": "person: Person, mood: str, *,"}]}),
    ("tests", "bash", {"command": "python3 -c 'import greet.people'"}),
    ("command", "bash", {"command": "sed -i 's/ada = Guest(/ada = Gast(/' greet/app.py"}),
    ("undo", "undo", {}),
]


async def main(command, *rest):
    server = StdioServerParameters(command=command, args=list(rest), env=dict(os.environ))
    async with Client(server, elicitation_callback=agree) as client:
        said = {}
        for name, tool, arguments in STEPS:
            said[name] = (await client.call_tool(tool, arguments)).structured_content
        return said


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
