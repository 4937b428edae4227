"""Subscribes to a memory with the Python SDK, while another process changes the memory.

Arguments: program, home, mode of the client (auto or legacy), and the address of an HTTP server; without it, the program
is started on the standard streams.
"""
import asyncio
import json
import subprocess
import sys
import warnings

from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

program, home, mode, *url = sys.argv[1:]
warnings.simplefilter("ignore")


def memory(*arguments):
    done = subprocess.run([program, "--root", home, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


async def main():
    id = memory("write", "tea at nine")["id"]
    note, unknown = f"memory://note/{id}", "memory://note/00000000"
    updated = asyncio.Queue()

    async def on_message(message):
        if getattr(message, "method", None) == "notifications/resources/updated":
            await updated.put(str(message.params.uri))

    async def expect_updates():
        memory("edit", id, "--content", "tea at ten")
        async with asyncio.timeout(60):
            assert {await updated.get(), await updated.get()} == {note, "memory://index"}

    server = url[0] if url else stdio_client(StdioServerParameters(command=program, args=["--root", home, "mcp"]))
    async with Client(server, mode=mode, message_handler=on_message) as client:
        version = client.session.protocol_version
        if mode == "legacy":
            assert version == "2025-11-25", version
            await client.subscribe_resource(note)
            await client.subscribe_resource("memory://index")
            await expect_updates()
            try:
                await client.subscribe_resource(unknown)
                raise AssertionError("an unknown resource was accepted")
            except MCPError as error:
                assert error.error.data == {"uri": unknown}, error
        else:
            assert version == "2026-07-28", version
            async with client.listen(resource_subscriptions=[note, "memory://index"]) as subscription:
                assert set(subscription.honored.resource_subscriptions) == {note, "memory://index"}
                await expect_updates()
        assert "tea at ten" in str(await client.read_resource(note))


asyncio.run(main())
