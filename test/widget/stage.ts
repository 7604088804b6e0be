import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser } from "./browser.ts";
import { startPageServer } from "./page/page-server.ts";
import { startScriptedService } from "./scripted-service.ts";
import type { ScriptedService } from "./scripted-service.ts";

/** What a file of browser tests is played in: a service by script, a site that uses it, a browser. */
export interface Stage {
  service: ScriptedService;
  site: { url: string; close(): Promise<void> };
  browser: Browser;
}

/** Opened before the file's tests, closed after them. Its members are there from the first test on. */
export function openStage(options: Partial<Parameters<typeof launchBrowser>[0]> = {}): Stage {
  // A cast: no test begins before it is filled.
  const stage = {} as Stage;
  beforeAll(async () => {
    stage.service = await startScriptedService();
    stage.site = await startPageServer(stage.service.url);
    stage.browser = await launchBrowser({ webMcp: false, ...options });
  });
  afterAll(async () => {
    await stage.browser.close();
    await stage.site.close();
    await stage.service.close();
  });
  return stage;
}
