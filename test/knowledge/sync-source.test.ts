// For src/knowledge/sync/, src/knowledge/meaning.ts
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Model } from "../../src/model.ts";
import { withMeaning } from "../../src/knowledge/meaning.ts";
import { readPage } from "../../src/knowledge/read/kinds.ts";
import { CannotEmbed, LostLease, syncSource } from "../../src/knowledge/sync/sync-source.ts";
import type { SourceSync } from "../../src/knowledge/sync/sync-source.ts";
import { hasWork } from "../../src/knowledge/sync/syncs.ts";
import { storeOn } from "../../src/stores/steps/store.ts";
import { createMemoryEngine } from "../stores/engine/memory-engine.ts";
import { sampleSource } from "../stores/contract/knowledge.ts";

const SLUG = "shop";

async function opened(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const store = await storeOn(createMemoryEngine(systemClock), { clock: systemClock, log: { warn() {} } });
  const knowledge = store.knowledge!;
  await knowledge.leaseKnowledge(SLUG, 100_000);
  let nth = 0;
  const sync = (more: Partial<SourceSync> = {}, anew = false) =>
    syncSource({
      store: knowledge,
      slug: SLUG,
      source: { name: "rules", folder },
      record: { ...sampleSource("rules"), sync: { id: `s${(nth += 1)}`, sinceMs: 1, anew } },
      otherPassages: 0,
      mostPassages: 100,
      fetching: { get: () => Promise.reject(new Error("Nothing is fetched")) },
      reader: { read: readPage },
      pause: async () => {},
      signal: new AbortController().signal,
      now: () => 5,
      newId,
      ...more,
    });
  const texts = async () => {
    const urls: string[] = [];
    for await (const pages of knowledge.pages(SLUG, "rules")) urls.push(...pages.map(({ url }) => url));
    const found = await knowledge.documents(SLUG, "rules", urls.sort());
    return Object.fromEntries(
      found.map(({ url, document }) => [url, document.passages.map(({ text }) => text).join("|")]),
    );
  };
  return { folder, write, knowledge, sync, texts };
}

test("a channel takes no more passages than fit; what does not is told, and what was there stays", async () => {
  const { write, sync, texts } = await opened({
    "a.md": "# A\n\nOne.\n\n## B\n\nTwo.\n",
    "b.md": "Three.\n",
  });
  expect(await sync({ mostPassages: 2 })).toMatchObject({
    pages: 2,
    passages: 2,
    failed: 1,
    failures: [{ url: "b.md", why: "the channel has 2 passages, and no more fit" }],
    fault: null,
    sync: null,
    readAtMs: 5,
  });
  expect(await texts()).toEqual({ "a.md": "One.|Two.", "b.md": "" });
  // Other sources count, too.
  write("a.md", "# A\n\nOnly one.\n");
  expect(await sync({ mostPassages: 3, otherPassages: 1 })).toMatchObject({ passages: 1, failed: 0 });
  expect(await texts()).toMatchObject({ "a.md": "Only one." });
});

test("what is gone goes, what cannot be read stays, and who lost the lease writes nothing more", async () => {
  const { folder, write, knowledge, sync, texts } = await opened({ "a.md": "One.\n", "b.md": "Two.\n" });
  await sync();
  unlinkSync(join(folder, "a.md"));
  write("b.md", "Three.\n");
  const broken = { read: () => Promise.reject(new Error("it is broken")) };
  expect(await sync({ reader: broken })).toMatchObject({
    pages: 1,
    failed: 1,
    failures: [{ url: "b.md", why: "it is broken" }],
  });
  expect(await texts()).toEqual({ "b.md": "Two." });
  await knowledge.releaseKnowledge(SLUG);
  await expect(sync()).rejects.toThrow(LostLease);
  expect(await texts()).toEqual({ "b.md": "Two." });
});

test("other settings read everything anew; a meaning that cannot be known now keeps the page as it was", async () => {
  const { sync, texts, knowledge } = await opened({ "a.md": "One.\n" });
  await sync();
  const embed: SourceSync["embed"] = async (passages) =>
    passages.map(({ heading, text }) => ({ heading, text, vector: "AQID" }));
  await sync({ embed });
  expect((await knowledge.documents(SLUG, "rules", ["a.md"]))[0]?.document.passages[0]).not.toHaveProperty(
    "vector",
  );
  await sync({ embed }, true);
  expect((await knowledge.documents(SLUG, "rules", ["a.md"]))[0]?.document.passages[0]?.vector).toBe("AQID");
  const away = () => Promise.reject(new CannotEmbed("its meaning cannot be known: away"));
  expect(await sync({ embed: away }, true)).toMatchObject({
    failed: 1,
    failures: [{ url: "a.md", why: "its meaning cannot be known: away" }],
  });
  expect(await texts()).toEqual({ "a.md": "One." });
  await expect(sync({ embed: () => Promise.reject(new TypeError("a bug")) }, true)).rejects.toThrow("a bug");
});

test("a stop does not wait for the model that knows what passages mean", async () => {
  const { sync } = await opened({ "a.md": "One.\n" });
  const stopping = new AbortController();
  const reason = new Error("The service stops");
  const embed: NonNullable<Model["embed"]> = (_model, _texts, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      stopping.abort(reason);
    });
  const reading = sync({
    signal: stopping.signal,
    embed: (passages, signal) => withMeaning(embed, "m", { passages, signal }),
  });
  await expect(reading).rejects.toMatchObject({ cause: reason });
});

test("a source is read when it is new, due, wanted, interrupted or another one, and removed when it is named no more", () => {
  const knowledge = { sources: [{ name: "rules", folder: "/r" }] };
  const known = { rev: null, sources: [], wanted: new Map<string, string>() };
  expect(hasWork(knowledge, known, 1)).toBe(true);
  expect(hasWork({ sources: [] }, known, 1)).toBe(false);
  expect(hasWork({ sources: [] }, { ...known, sources: [sampleSource("rules")] }, 1)).toBe(true);
  const other = { ...sampleSource("rules"), sync: null, dueAtMs: 10 };
  expect(hasWork(knowledge, { ...known, sources: [other] }, 1)).toBe(true);
});
