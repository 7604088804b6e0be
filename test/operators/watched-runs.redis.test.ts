// For src/threads/following/, src/operators/threads/watch-thread.ts, src/operators/threads/machine-view.ts
import { expect, onTestFinished, test } from "vitest";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { hold, say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { prepareRedis } from "../support/stores/store-kinds.ts";
import { watch } from "./watch.ts";

test("a watch sees a run that another instance holds, line by line", async () => {
  const ground = await prepareRedis();
  onTestFinished(() => ground.remove());
  const [here, there] = [await ground.open(), await ground.open()];
  onTestFinished(async () => void (await Promise.all([here.close(), there.close()])));
  const { model, server } = await openScriptedModel([[say("Hel"), hold(), say("lo")]]);
  await addOperators(here);
  const watching = await startTestService({ store: here, model });
  const running = await startTestService({ store: there, model });

  const sent = sendMessage(running.url, { threadId: "t1", userId: "ada", text: "Hello" });
  await server.held();
  const { states, spoken } = await watch(watching.url, "cli", threadUid("cli", "ada", "t1"));
  await expect.poll(spoken).toBe("Hel");
  expect(states()).toEqual(["running.thinking"]);
  server.release();
  await sent;
  await expect.poll(states).toEqual(["running.thinking", "idle"]);
  expect(spoken()).toBe("Hello <done> ");
});
