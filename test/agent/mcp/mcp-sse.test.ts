// For src/agent/mcp/connect/transports.ts, src/agent/mcp/check.ts
import { expect, test } from "vitest";
import { checkMcpServers } from "../../../src/agent/mcp/check.ts";
import { systemClock } from "../../../src/clock.ts";
import { Secret } from "../../../src/secret.ts";
import { silentLog } from "../run.ts";
import { openSseServer } from "./mcp-sse-server.ts";
import { callOf, names, never, openSessions, tool } from "./sessions.ts";

test("a server that speaks SSE alone is used, with the headers of its settings", async () => {
  const server = await openSseServer([tool("find")]);
  const sessions = openSessions({}, { variable: () => new Secret("k") });
  const servers = { old: { url: server.url, headers: { "x-key": "$KEY" } } };
  expect(names(await sessions.tools("shop", servers, never()))).toEqual(["find"]);
  const answer = await sessions.call("shop", servers, callOf("old", "find"), never());
  expect(answer).toEqual({ text: "find did it", isError: false });
  expect(server.headers["x-key"]).toBe("k");
});

test("a call whose stream breaks is lost, and the next one opens another stream", async () => {
  const server = await openSseServer([tool("find"), tool("hang")]);
  const sessions = openSessions();
  const servers = { old: { url: server.url } };
  await sessions.tools("shop", servers, never());
  const hanging = sessions.call("shop", servers, callOf("old", "hang"), never());
  await expect.poll(() => server.calls).toEqual(["hang"]);
  server.drop();
  expect((await hanging).text).toBe(
    "The connection to the tool was lost. Whether it did its work is unknown.",
  );
  await expect
    .poll(() => {
      // However often it failed to connect meanwhile.
      sessions.clock.ms += 60_000;
      return sessions.call("shop", servers, callOf("old", "find"), never());
    })
    .toEqual({ text: "find did it", isError: false });
});

test("of a server that speaks neither, the operator is told what it said to today's protocol", async () => {
  const { url } = await openSseServer([]);
  const servers = { s: { url: url.replace("/sse", "/other") } };
  const [report] = await checkMcpServers("shop", servers, {
    clock: systemClock,
    log: silentLog,
    variable: () => null,
    signal: never(),
    allowsPrivate: () => true,
  });
  expect(report?.fault).toContain("Error POSTing to endpoint");
});
