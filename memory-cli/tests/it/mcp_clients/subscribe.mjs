// Subscribes to a memory with the TypeScript SDK, while another process changes the memory.
//
// Arguments: program, home, and mode of the client (auto or legacy).
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [program, home, mode] = process.argv.slice(-3);
const memory = (...parts) => JSON.parse(execFileSync(program, ["--root", home, ...parts, "--json"], { encoding: "utf8" }));

const { id } = memory("write", "coffee at nine");
const uris = [`memory://note/${id}`, "memory://index"];
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
const waiting = new Set(uris);
const updated = new Promise((resolve) => {
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    waiting.delete(params.uri);
    if (waiting.size === 0) resolve();
  });
});
await client.connect(new StdioClientTransport({ command: program, args: ["--root", home, "mcp"] }));
assert.equal(client.getNegotiatedProtocolVersion(), mode === "auto" ? "2026-07-28" : "2025-11-25");
if (mode === "auto") {
  const subscription = await client.listen({ resourceSubscriptions: uris });
  assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, uris);
} else {
  for (const uri of uris) await client.subscribeResource({ uri });
}
memory("edit", id, "--content", "coffee at ten");
await updated;
if (mode === "legacy") {
  await assert.rejects(client.subscribeResource({ uri: "memory://note/00000000" }));
}
await client.close();
