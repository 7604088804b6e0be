import { describe, expect, it } from "vitest";
import type { KnowledgeStore, PageRecord, SourceRecord, Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { LIFETIME_MS, SLUG } from "../samples.ts";

export function samplePage(url: string, changes: Partial<PageRecord> = {}): PageRecord {
  const known = { etag: '"1"', lastModified: null, hash: "ab", passages: 1, rev: "r1", sync: "s1" };
  return { url, title: `Page ${url}`, ...known, ...changes };
}

export function sampleSource(name: string, changes: Partial<SourceRecord> = {}): SourceRecord {
  return {
    name,
    settings: "of the site",
    dueAtMs: 5,
    readAtMs: 4,
    pages: 2,
    passages: 3,
    failed: 1,
    failures: [{ url: "https://shop.example/é", why: "status 500" }],
    fault: null,
    sync: { id: "s1", sinceMs: 3, anew: false },
    ...changes,
  };
}

export const sampleDocument = (text: string) => ({
  links: ["https://shop.example/a"],
  passages: [{ heading: "Help › Returns", text, vector: "AQID" }],
});

const knowledgeOf = ({ knowledge }: Store): KnowledgeStore => {
  if (!knowledge) throw new Error("The store keeps no documents");
  return knowledge;
};

async function urlsOf(knowledge: KnowledgeStore, source: string): Promise<string[]> {
  const urls: string[] = [];
  for await (const pages of knowledge.pages(SLUG, source)) urls.push(...pages.map(({ url }) => url));
  return urls.sort();
}

export function knowledgePromises(bench: Bench): void {
  describe("a channel's documents", () => {
    it("are kept by source, page and passage, and another process reads them", async () => {
      const knowledge = knowledgeOf(bench.it.store);
      expect(await knowledge.sources(SLUG)).toEqual({ rev: null, sources: [], wanted: new Map() });
      expect(await knowledge.leaseKnowledge(SLUG, 60_000)).toBe(true);
      const page = samplePage("https://shop.example/a");
      expect(await knowledge.keepPage(SLUG, "site", page, sampleDocument("Thirty days"))).toBe(true);
      expect(await knowledge.keepPage(SLUG, "other", page, sampleDocument("Another one"))).toBe(true);
      expect(await knowledge.keepSource(SLUG, sampleSource("site"), { rev: "v1" })).toBe(true);

      const again = knowledgeOf(await bench.it.reopen());
      expect(await again.sources(SLUG)).toEqual({
        rev: "v1",
        sources: [sampleSource("site")],
        wanted: new Map(),
      });
      expect(await again.sources("bot")).toMatchObject({ rev: null, sources: [] });
      for await (const pages of again.pages(SLUG, "site")) expect(pages).toEqual([page]);
      expect(await again.documents(SLUG, "site", [page.url, "https://shop.example/none"])).toEqual([
        { url: page.url, document: sampleDocument("Thirty days") },
      ]);
    });

    it("a page keeps its text where only what is known of it changes; dropped pages and sources are gone", async () => {
      const knowledge = knowledgeOf(bench.it.store);
      await knowledge.leaseKnowledge(SLUG, 60_000);
      const urls = ["a", "b", "c"].map((path) => `https://shop.example/${path}`);
      for (const url of urls) await knowledge.keepPage(SLUG, "site", samplePage(url), sampleDocument(url));
      await knowledge.keepPage(SLUG, "site", samplePage(urls[0] ?? "", { sync: "s2" }));
      expect(await knowledge.documents(SLUG, "site", urls.slice(0, 1))).toMatchObject([
        { document: sampleDocument(urls[0] ?? "") },
      ]);
      expect(await knowledge.dropPages(SLUG, "site", urls.slice(1))).toBe(true);
      expect(await urlsOf(knowledge, "site")).toEqual(urls.slice(0, 1));
      expect(await knowledge.documents(SLUG, "site", urls)).toHaveLength(1);

      await knowledge.keepSource(SLUG, sampleSource("site"), { rev: "v1" });
      expect(await knowledge.dropSource(SLUG, "site", { rev: "v2" })).toBe(true);
      expect(await urlsOf(knowledge, "site")).toEqual([]);
      expect(await knowledge.sources(SLUG)).toEqual({ rev: "v2", sources: [], wanted: new Map() });
    });

    it("are read by one process at a time: a change by another one is refused, until the lease ends", async () => {
      const mine = knowledgeOf(bench.it.store);
      const other = await bench.it.another();
      if (other === null) return;
      const theirs = knowledgeOf(other);
      expect(await mine.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(true);
      expect(await mine.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(true);
      if (other.kind === "embedded") {
        // One process serves it: any other holder is dead.
        expect(await theirs.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(true);
        return expect(await mine.keepSource(SLUG, sampleSource("site"))).toBe(false);
      }
      expect(await theirs.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(false);
      const page = samplePage("https://shop.example/a");
      expect(await theirs.keepPage(SLUG, "site", page, sampleDocument("Late"))).toBe(false);
      expect(await theirs.keepSource(SLUG, sampleSource("site"))).toBe(false);
      expect(await theirs.dropSource(SLUG, "site", { rev: "v9" })).toBe(false);
      await theirs.releaseKnowledge(SLUG);
      expect(await theirs.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(false);
      expect(await mine.sources(SLUG)).toMatchObject({ rev: null, sources: [] });

      await bench.it.elapse(1.3 * LIFETIME_MS);
      expect(await theirs.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(true);
      expect(await mine.keepPage(SLUG, "site", page, sampleDocument("Late"))).toBe(false);
      await theirs.releaseKnowledge(SLUG);
      expect(await mine.leaseKnowledge(SLUG, LIFETIME_MS)).toBe(true);
    });

    it("a wanted sync is wanted until one begins, and once more if it was wanted meanwhile", async () => {
      const knowledge = knowledgeOf(bench.it.store);
      await knowledge.wantSync(SLUG, ["site", "rules"]);
      const { wanted } = await knowledge.sources(SLUG);
      expect([...wanted.keys()].sort()).toEqual(["rules", "site"]);
      await knowledge.wantSync(SLUG, ["site"]);
      await knowledge.beginWanted(SLUG, "site", wanted.get("site") ?? "");
      await knowledge.beginWanted(SLUG, "rules", wanted.get("rules") ?? "");
      expect([...(await knowledge.sources(SLUG)).wanted.keys()]).toEqual(["site"]);
    });
  });
}
