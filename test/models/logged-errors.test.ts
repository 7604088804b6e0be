// For src/models/faults.ts
import { expect, test } from "vitest";
import { createLog } from "../../src/log.ts";
import { bytes, cut, status } from "../support/servers/model-server.ts";
import type { ScriptedTurn } from "../support/servers/model-server.ts";
import { openScriptedModel, startTurn } from "../support/servers/open-model.ts";

const long = `It was overloaded. ${"x".repeat(1_000_000)}`;

/** What the log writes for the fault of a turn, as for a run that failed. */
async function logged(turn: ScriptedTurn): Promise<string> {
  const { model } = await openScriptedModel(() => turn);
  const error: unknown = await startTurn(model).turn.catch((reason: unknown) => reason);
  const lines: string[] = [];
  const log = createLog({
    level: "warn",
    secrets: [],
    destination: { write: (line) => void lines.push(line) },
  });
  log.warn({ err: error }, "a run failed");
  return lines.join("");
}

test.each<[string, ScriptedTurn]>([
  ["a status", [status(400, {}, JSON.stringify({ error: { message: long } }))]],
  ["a status with a text", [status(500, {}, long)]],
  ["a stream", [bytes(`data: ${JSON.stringify({ error: { message: long } })}\n\n`), cut()]],
  [
    "a stream, with a status",
    [bytes(`data: ${JSON.stringify({ error: { message: long, code: 400 } })}\n\n`), cut()],
  ],
  ["a whole answer", [bytes(JSON.stringify({ error: { message: long } })), cut()]],
])(
  "G1: the log has the beginning of what a server says in an error, and not all of it: %s",
  async (_how, turn) => {
    const line = await logged(turn);
    expect(line).toContain("It was overloaded.");
    expect(line.length).toBeLessThan(12_000);
  },
);

test("G1: of an answer that cannot be read the log has no more than its beginning", async () => {
  const line = await logged([bytes(`data: {"choices": oops ${"x".repeat(1_000_000)}\n\n`), cut()]);
  expect(line).toContain("was not understood");
  expect(line.length).toBeLessThan(12_000);
});
