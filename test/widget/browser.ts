import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { test as plainTest } from "vitest";
import { pathOf, pathOfPageCache } from "../support/programs.ts";

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  // It ends the process that draws where a busy machine lets that wait, and no frame comes any more.
  "--disable-gpu-watchdog",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long to look for what comes soon: two slow cores may be busy elsewhere. */
export const SOON = { timeout: 90_000 };

interface BrowserOptions {
  webMcp: boolean;
  /** The driver turns the page cache off; only some have one (pathOfPageCache). */
  pageCache?: boolean;
  /** Rules for names of hosts, as `MAP shop.test 127.0.0.1`. */
  hosts?: string;
}

/** Real Chromium, with an empty profile. */
export async function launchBrowser(options: BrowserOptions): Promise<Browser> {
  const { webMcp, hosts } = options;
  return await chromium.launch({
    executablePath: (options.pageCache === true ? pathOfPageCache() : pathOf("browser")) ?? "chromium",
    args: [
      ...QUIET,
      ...(webMcp ? ["--enable-features=WebMCP"] : []),
      ...(hosts === undefined ? [] : [`--host-resolver-rules=${hosts}`]),
    ],
    ignoreDefaultArgs: options.pageCache === true ? ["--disable-back-forward-cache"] : [],
  });
}

/** A visitor at a page: what is seen, what was asked, and what the page was told. */
export interface Visit {
  page: Page;
  agent: Locator;
  composer: Locator;
  log: Locator;
  /** Errors of the page and its console, policy violations among them; refused requests are not. */
  troubles: string[];
  say(text: string): Promise<void>;
  /** Evaluates an expression in the page; `agent` is the element. */
  tell<Value>(expression: string): Promise<Value>;
  /** Details of the element's events of one name, on the present page. */
  events(name: string): Promise<Record<string, unknown>[]>;
}

export type OpenVisit = (browser: Browser, url: string, options?: BrowserContextOptions) => Promise<Visit>;

/** A test with visits: each opens a page in a context of its own, gone with the test. */
export const test = plainTest.extend<{ visit: OpenVisit }>({
  // oxlint-disable-next-line no-empty-pattern -- the runner reads from it that nothing else is needed
  visit: async ({}, use) => {
    const contexts: BrowserContext[] = [];
    await use(async (browser, url, options = {}) => {
      const context = await browser.newContext({ locale: "en-GB", ...options });
      contexts.push(context);
      const page = await context.newPage();
      const at = visitOf(page);
      await page.goto(url);
      return at;
    });
    await Promise.all(contexts.map((context) => context.close()));
  },
});

export function visitOf(page: Page): Visit {
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      troubles.push(message.text());
    }
  });
  page.setDefaultTimeout(SOON.timeout);
  const agent = page.locator("chat-agent").first();
  const composer = agent.locator("textarea");
  const tell = <Value>(expression: string): Promise<Value> =>
    page.evaluate(`(() => { const agent = document.querySelector("chat-agent"); return ${expression}; })()`);
  return {
    page,
    agent,
    composer,
    log: agent.locator("[role=log]"),
    troubles,
    async say(text) {
      if (!(await tell<boolean>("agent.open"))) await agent.locator(".launcher").click();
      await composer.fill(text);
      await composer.press("Enter");
    },
    tell,
    async events(name) {
      const all = await tell<[string, Record<string, unknown>][]>("window.events");
      return all.filter(([known]) => known === name).map(([, detail]) => detail);
    },
  };
}
