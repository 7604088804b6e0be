// For src/store/unreadable.ts, src/stores/steps/
import { expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { UnreadableRecord } from "../../src/store.ts";
import { entryText, slotOf } from "../../src/stores/engine.ts";
import { storeOn } from "../../src/stores/steps/store.ts";
import { HEADER, tables } from "../../src/stores/tables.ts";
import { createMemoryEngine } from "./engine/memory-engine.ts";
import { BUDGET_CHARS, sampleCommit, sampleMessage } from "./samples.ts";

it("a record that does not fit is named with its place, and is no outage; a field of a later version is let through", async () => {
  const engine = createMemoryEngine(systemClock);
  const store = await storeOn(engine, { clock: systemClock, log: { warn() {} } });
  const put = (key: string, field: string, value: string) =>
    engine.apply({
      slot: slotOf(key),
      checks: [],
      writes: [{ write: "set", key, fields: [[field, value]] }],
    });
  const putMessage = (message: object) =>
    put(tables.messages.key("t1"), "2", entryText(6, JSON.stringify(message)));
  const messages = [sampleMessage(1), sampleMessage(2)];
  await store.commit(sampleCommit({ opId: "1", fence: "p:a", messages }));
  const later = { ...sampleMessage(2), addedLater: 1 };
  await putMessage(later);
  expect(await store.history("t1", { limit: 1, before: null })).toEqual([later]);
  const { role: _, ...without } = sampleMessage(2);
  await putMessage(without);
  const fault = new UnreadableRecord("message", "t1", "its role does not fit");
  await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow(fault);
  await expect(store.history("t1", { limit: 9, before: null })).rejects.toThrow(fault);
  await putMessage(sampleMessage(2));
  await put(tables.header.key("t1"), HEADER.run, "no JSON");
  await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow("Cannot read the run at t1: it is no object");
});
