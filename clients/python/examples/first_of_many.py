"""Asks several worktrees at once about a symbol, takes the first answer and cancels the other calls: SYMBOL FOLDER…"""

import asyncio
import contextlib
import sys

from lsp_tools_client import AsyncClient


async def main(symbol: str, *folders: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        clients = {folder: await stack.enter_async_context(AsyncClient(folder)) for folder in folders}
        calls = {asyncio.create_task(client.lsp_hover(at=symbol)): folder for folder, client in clients.items()}
        done, others = await asyncio.wait(calls, timeout=120, return_when=asyncio.FIRST_COMPLETED)
        for call in others:
            # Cancels the request too; the client remains usable.
            call.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for call in done:
            print(f"{calls[call]}: {(await call).value['contents'].splitlines()[1]}")
        again = await asyncio.gather(*(client.lsp_hover(at=symbol) for client in clients.values()))
        print(f"{len(others)} cancelled, {sum(answer.complete for answer in again)} of {len(again)} answered again")


asyncio.run(main(*sys.argv[1:]))
