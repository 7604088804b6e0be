import { readFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import type { ServiceProcess } from "../support/servers/service-process.ts";
import { launchBrowser } from "../widget/browser.ts";

/** A browser, and a service whose console it opens. */
export interface Operated {
  browser: Browser;
  url: string;
  keys: ReturnType<typeof keysOf>;
}

/**
 * The browser is the file's, the service each try's: what was said, blocked and added by the one before is not there. Its
 * members are there from the first test on.
 */
export function openOperated(): Operated {
  // A cast: no test begins before it is filled.
  const operated = {} as Operated;
  let running: ServiceProcess;
  beforeAll(async () => void (operated.browser = await launchBrowser({ webMcp: false })));
  afterAll(() => operated.browser.close());
  beforeEach(async () => {
    const dataDir = emptyFolder();
    running = await openServiceProcess({ DATA_DIR: dataDir });
    operated.url = running.url;
    operated.keys = keysOf(dataDir);
  });
  afterEach(() => running.close());
  return operated;
}

/** The keys that a start made. */
export function keysOf(dataDir: string): { harnessApiKey: string; localOperator: string } {
  return JSON.parse(readFileSync(join(dataDir, "keys.json"), "utf8")) as ReturnType<typeof keysOf>;
}

/** Everything that a page asks of an address which is not its own. */
export function strangersOf(page: Page, url: string): string[] {
  const strangers: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) strangers.push(request.url());
  });
  return strangers;
}

/** What axe finds wrong: rule and element. */
export async function accessibilityTroubles(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run()",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** To a place of the console, as by its link. */
export async function enter(page: Page, place: string): Promise<void> {
  await page.evaluate(`void (location.hash = ${JSON.stringify(place)})`);
}

/** The conversation that is shown is followed. The chart has a button of that name, which may be there before. */
export async function untilLive(page: Page): Promise<void> {
  await page
    .getByRole("status")
    .filter({ hasText: /^Live$/ })
    .waitFor();
}
