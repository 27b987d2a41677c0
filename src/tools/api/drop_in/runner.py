# Runs one tool in the Python form: SCHEMA and execute(tool_input, ctx). Arguments on stdin, the answer on stdout.
import sys

# Neither modules of the workspace, where this is started, nor compiled files beside the tool stand in for what was trusted.
sys.path[:] = [entry for entry in sys.path if entry]
sys.dont_write_bytecode = True

import asyncio, dataclasses, inspect, json, os, types, typing


@dataclasses.dataclass
class ToolContext:
    workspace_root: str
    sync_file_to_server: typing.Callable[[str, str], None]
    open_document: typing.Callable[[str, str, str], None]


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


base = module("tools._base", ToolContext=ToolContext)
module("tools", _base=base, __path__=[])

answer, sys.stdout = sys.stdout, sys.stderr
path = sys.argv[1]
tool = module("tools." + os.path.splitext(os.path.basename(path))[0], __file__=path)
with open(path, encoding="utf-8") as source:
    exec(compile(source.read(), path, "exec"), tool.__dict__)

# The host sees every file that changes by itself, and opens documents when it asks about them.
context = ToolContext(os.getcwd(), lambda *_: None, lambda *_: None)
result = tool.execute(json.load(sys.stdin), context)
if inspect.isawaitable(result):

    async def finished(awaited):
        return await awaited

    result = asyncio.run(finished(result))
json.dump(result, answer)
answer.flush()
