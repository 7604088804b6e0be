// For src/demo/model/demo-model.ts, src/models/providers.ts
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { openModel } from "../../src/installation/open-model.ts";
import type { MemberCall } from "../../src/models/providers.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";

test("a channel whose model is demo-chain is answered by the second model, and its history says which", async () => {
  const calls: MemberCall[] = [];
  const model = await openModel(readConfig({}), { onCall: (call) => void calls.push(call) });
  onTestFinished(() => model.close());
  const { url, store, directory } = await startTestService({ model });
  const cli = (await store.channel("cli")) ?? expect.fail();
  await sendMessage(url, { threadId: "t", userId: "me", text: "Hello" });
  expect(calls.splice(0)).toMatchObject([{ provider: "demo", outcome: "done" }]);

  await store.putChannel({ ...cli, slug: "chain", agent: { ...cli.agent, model: "demo-chain" } });
  await directory.renew();
  const said = { threadId: "t", userId: "me", text: "Hello", channel: "chain" };
  const { text, lines } = await sendMessage(url, said);
  expect(text).toContain("demo model");
  expect(lines.at(-1)?.type).toBe("done");
  expect(calls).toMatchObject([
    { provider: "demo-busy", outcome: "fell_over" },
    { provider: "demo", outcome: "done" },
  ]);
  const [user] = await store.users("chain");
  const [thread] = await store.threads("chain", user?.userId ?? "");
  const [, reply] = await store.history(thread?.uid ?? "", { limit: 9, before: null });
  expect(reply?.model).toBe("demo/demo");
});
