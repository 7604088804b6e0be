// For src/cli/threads.ts, src/cli/command/
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { hold, say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { runCommand } from "../support/terminal.ts";

/** A service with a run of ada's that does not end, and a message that waits behind it. */
async function openBusy() {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  onTestFinished(() => store.close());
  const { server, model } = await openScriptedModel(() => [say("Once "), hold()]);
  // As in life, where the command is another process: it tells the service nothing.
  const { url } = await startTestService({ store: { ...store, onMessage() {} }, model });
  const said = (text: string) => sendMessage(url, { threadId: "t1", userId: "ada", text });
  // The service beside learns that the thread was taken at its next save, and cuts it off then.
  void said("One").catch(() => {});
  await expect.poll(() => server.requests.length).toBe(1);
  const second = said("Two");
  const ada = await store.findUser("cli", "ada");
  const [thread] = await store.threads("cli", ada?.userId ?? "");
  const uid = thread?.uid ?? "";
  await expect.poll(async () => (await store.waitingRuns(uid)).length).toBe(1);
  const outcomes = async () => (await store.runs(uid, 9)).map(({ outcome }) => outcome);
  return { dataDir, server, second, outcomes, store, uid };
}

test.each([
  ["users block", ["users", "block", "cli", "ada"]],
  ["channels disable", ["channels", "disable", "cli"]],
])("%s --stop ends a run in progress, and what waits behind it, in a service beside", async (_, args) => {
  const { dataDir, server, second, outcomes, store, uid } = await openBusy();
  const { code, err } = await runCommand({ DATA_DIR: dataDir }, [...args, "--stop"]);
  expect([code, err]).toEqual([0, "Stopped in 1 threads\n"]);
  expect(await outcomes()).toEqual(["cancelled", "cancelled"]);
  expect((await store.load(uid, 9))?.state).toBe("idle");
  expect((await second).lines.at(-1)).toMatchObject({ type: "error" });
  expect(server.requests.length).toBe(1);
});

test("without --stop the run goes on", async () => {
  const { dataDir, outcomes } = await openBusy();
  await runCommand({ DATA_DIR: dataDir }, ["users", "block", "cli", "ada"]);
  expect(await outcomes()).toEqual([null]);
});
