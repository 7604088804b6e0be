// For src/cli/machines.ts
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { runCommand } from "../support/terminal.ts";

describe("chat-agent machines", () => {
  test.each(["thread", "visitor", "stream", "tab"])(
    "prints the chart of a %s in Mermaid, as it is kept",
    async (name) => {
      const { code, out } = await runCommand({}, ["machines", name]);
      expect(code).toBe(0);
      expect(out).toBe(readFileSync(new URL(`../../machines/${name}.mmd`, import.meta.url), "utf8"));
    },
  );

  test("prints the thread's chart where none is named, and JSON for scripts", async () => {
    const { code, out } = await runCommand({}, ["machines", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: "thread", initial: "idle" });
  });

  test.each(["lamp", "constructor"])("exits 1 where no chart is called %s", async (name) => {
    const { code, err } = await runCommand({}, ["machines", name]);
    expect(code).toBe(1);
    expect(err).toBe(`Cannot draw ${name}: the charts are thread, visitor, stream, tab\n`);
  });
});

describe("chat-agent machines SLUG THREAD", () => {
  const uid = threadUid("cli", "ada", "t1");

  /** A folder with a thread of two runs, and the command over it. */
  async function afterTwoRuns() {
    const dataDir = temporaryFolder();
    const store = await openEmbeddedStore({ dataDir, clock: systemClock });
    const service = await startTestService({ store });
    for (const text of ["Hello", "Hello again"]) {
      await sendMessage(service.url, { threadId: "t1", userId: "ada", text });
    }
    await service.stop(0);
    await store.close();
    return (...args: string[]) => runCommand({ DATA_DIR: dataDir }, args);
  }

  test("prints the path of the last run", async () => {
    const run = await afterTwoRuns();
    const { code, out } = await run("machines", "cli", uid);
    expect(code).toBe(0);
    const rows = out.trimEnd().split("\n").slice(-3);
    expect(rows.map((row) => row.trim().split(/ {2,}/).slice(1))).toEqual([
      ["EVENT", "STATE", "SAID"],
      ["user.said", "running.thinking"],
      ["agent.finished", "idle", "done"],
    ]);
  });

  test("prints an earlier run by its id", async () => {
    const run = await afterTwoRuns();
    const shown = await run("threads", "show", "cli", uid, "--json");
    const { runs } = JSON.parse(shown.out) as { runs: { id: string }[] };
    const { code, out } = await run("machines", "cli", uid, "--run", runs[0]?.id ?? "", "--json");
    expect(code).toBe(0);
    expect(runs).toHaveLength(2);
    expect(JSON.parse(out)).toEqual(runs[0]);
  });

  test("exits 1 where there is no such channel, thread or run", async () => {
    const run = await afterTwoRuns();
    expect(await run("machines", "nope", uid)).toMatchObject({ code: 1, out: "" });
    expect(await run("machines", "cli", "nope")).toEqual({
      code: 1,
      out: "",
      err: "Cannot find thread nope: channel cli has none of that id\n",
    });
    expect(await run("machines", "cli", uid, "--run", "nope")).toEqual({
      code: 1,
      out: "",
      err: `Cannot find run nope: thread ${uid} has none of that id\n`,
    });
  });
});
