// For src/knowledge/sync/, src/stores/steps/knowledge.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { runCommand } from "../support/terminal.ts";
import { until } from "../support/until.ts";
import { html, openSite } from "./site.ts";
import type { SiteAnswer } from "./site.ts";

const PAGES = 80;

interface Source {
  state: string;
  pages: number;
  passages: number;
  failed: number;
}

/** A site that takes its time. */
async function slowSite() {
  const slowly =
    (answer: SiteAnswer): SiteAnswer =>
    (request, response) =>
      void setTimeout(() => answer(request, response), 30);
  const nths = Array.from({ length: PAGES }, (_, nth) => nth);
  const links = nths.map((nth) => `<a href="/p/${nth}">${nth}</a>`).join(" ");
  return openSite({
    "/": html(`<h1>Start</h1><p>Everything starts here.</p>${links}`, "Start"),
    ...Object.fromEntries(
      nths.map((nth) => [`/p/${nth}`, slowly(html(`<h1>Page</h1><p>The number of it is word${nth}x.</p>`))]),
    ),
  });
}

test.each(inject("stores"))(
  "a sync that is killed goes on where it was, by another process, and loses nothing, on the %s store",
  { timeout: 120_000 },
  async (kind) => {
    const site = await slowSite();
    const redis = kind === "redis" ? await startRedis() : null;
    const folder = temporaryFolder();
    const sources = [{ name: "site", url: `${site.origin}/`, every: "24h" }];
    const channels = [{ slug: "cli", kind: "transport", knowledge: { sources } }];
    writeFileSync(join(folder, "channels.json"), JSON.stringify({ channels }));
    const env = {
      DATA_DIR: join(folder, "data"),
      CHANNELS_FILE: join(folder, "channels.json"),
      KNOWLEDGE_PRIVATE: "on",
      HARNESS_API_KEY: TEST_KEY,
      MODEL: "demo",
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    };
    const first = await startServiceProcess(env);
    // Of the embedded store there is one process at a time.
    const beside = redis === null ? null : await startServiceProcess(env);
    await until("a part is read", () => site.asked.length > PAGES / 3);
    for (const one of [first, ...(beside ? [beside] : [])]) one.kill("SIGKILL");
    await Promise.all([first.exit, beside?.exit]);
    const askedBefore = site.asked.length;
    expect(askedBefore).toBeLessThan(PAGES);

    const second = await startServiceProcess(env);
    const list = async (): Promise<Source[]> =>
      JSON.parse((await runCommand(env, ["knowledge", "list", "cli", "--json"])).out) as Source[];
    await until("it is read", async () => (await list())[0]?.state === "read");
    expect(await list()).toMatchObject([{ pages: PAGES + 1, passages: PAGES + 1, failed: 0 }]);
    // Of the pages that were read, none is asked for again: but for the one that was under way, and what begins each sync.
    const pages = site.asked.filter((path) => path.startsWith("/p/"));
    expect(pages.length - new Set(pages).size).toBeLessThanOrEqual(2);
    for (const nth of [0, 7, PAGES - 1]) {
      const found = await runCommand(env, ["knowledge", "search", "cli", `word${nth}x`, "--json"]);
      expect(JSON.parse(found.out)).toMatchObject([{ url: `${site.origin}/p/${nth}` }]);
    }
    second.kill("SIGKILL");
    await second.exit;
    await redis?.stop();
  },
);
