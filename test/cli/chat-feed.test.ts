// For src/cli/chat/chat-feed.ts
import { expect, test } from "vitest";
import { createElsewhere } from "../../src/cli/chat/chat-feed.ts";
import { runProgram } from "../../src/cli/program.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { startTestService, TEST_KEY } from "../support/servers/service.ts";
import { openTestTerminal } from "../support/terminal.ts";

const CTRL_C = "\u0003";
const WITHIN = { timeout: 20_000 };

const item = (role: "user" | "assistant", content: string, clientMessageId?: string) => ({
  type: "message" as const,
  item: { id: "1", role, content, createdAt: 1, ...(clientMessageId ? { clientMessageId } : {}) },
});

test("what this chat said, and its replies, are not shown again; everything else is", () => {
  const shown = createElsewhere(new Set(["mine"]));
  const lines = [
    item("assistant", "A reply that was under way"),
    item("user", "Mine", "mine"),
    { type: "state", state: "running", runId: "r1" } as const,
    item("assistant", "To mine"),
    item("user", "Theirs", "theirs"),
    item("assistant", "To theirs"),
    item("user", "Of a caller without ids"),
    { type: "ping" } as const,
  ];
  expect(lines.map(shown).filter((text) => text !== null)).toEqual([
    "A reply that was under way",
    "[elsewhere] Theirs",
    "To theirs",
    "[elsewhere] Of a caller without ids",
  ]);
});

test("what is said elsewhere in the thread appears, above what is being typed", async () => {
  const { model } = await openScriptedModel(["My reply", "Your reply"]);
  const { url } = await startTestService({ model });
  const terminal = { ...openTestTerminal({ HARNESS_API_KEY: TEST_KEY }), interactive: true };
  Object.assign(terminal.input, { isTTY: true });
  const args = ["chat", "--url", url, "--thread", "t1", "--user", "ada"];
  const ended = runProgram(args, terminal);
  terminal.input.write("Hello\r");
  await expect.poll(() => terminal.written.out, WITHIN).toContain("My reply");
  // A message may come before the feed is open: it is told from the first item on then.
  const said = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t1", userId: "ada", text: "From my phone" }),
  });
  await said.text();
  await expect.poll(() => terminal.written.out, WITHIN).toContain("Your reply");
  expect(terminal.written.out).toMatch(/\[elsewhere\] From my phone[^]*Your reply/);
  expect(terminal.written.out.split("My reply")).toHaveLength(2);
  terminal.input.write(CTRL_C);
  expect(await ended).toBe(0);
});
