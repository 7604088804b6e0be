import { openKeyDoor } from "../support/key-door.ts";
import { expect, onTestFinished, test } from "vitest";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { Secret } from "../../src/secret.ts";
import { openInspector } from "../../src/start/open-inspector.ts";
import { hold, say } from "../support/model-server.ts";
import { openScriptedModel } from "../support/open-model.ts";
import { TEST_KEY, sendMessage, startTestService } from "../support/service.ts";
import { prepareRedis } from "../support/store-kinds.ts";
import { watch } from "./watch.ts";

const uid = threadUid("cli", "ada", "t1");

test("a watch sees a run that another instance holds, line by line", async () => {
  const ground = await prepareRedis();
  onTestFinished(() => ground.remove());
  const [here, there] = [await ground.open(), await ground.open()];
  onTestFinished(async () => void (await Promise.all([here.close(), there.close()])));
  const { model, server } = await openScriptedModel([[say("Hel"), hold(), say("lo")]]);
  const inspector = openInspector({
    transportKey: new Secret(TEST_KEY),
    keyDoor: openKeyDoor(),
    secrets: [],
    store: here,
    log: { info() {}, warn() {}, error() {} },
  });
  const watching = await startTestService({ store: here, model, extraRoutes: inspector.routes });
  const running = await startTestService({ store: there, model });

  const sent = sendMessage(running.url, { threadId: "t1", userId: "ada", text: "Hello" });
  await server.held();
  const key = inspector.linkOf("").split("#key=")[1] ?? "";
  const { states, spoken } = await watch(watching.url, uid, key);
  await expect.poll(spoken).toBe("Hel");
  expect(states()).toEqual(["running.thinking"]);
  server.release();
  await sent;
  await expect.poll(states).toEqual(["running.thinking", "idle"]);
  expect(spoken()).toBe("Hello <done> ");
});
