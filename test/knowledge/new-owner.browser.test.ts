// For src/knowledge/, src/cli/init/, src/widget/view/message/sources.tsx
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll } from "vitest";
import type { Browser } from "playwright-core";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";
import { freePort } from "../support/servers/free-port.ts";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import { html, openSite } from "./site.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

const PAGES = 200;
const TOPICS = [
  "kettles",
  "lamps",
  "ladders",
  "brooms",
  "ovens",
  "clocks",
  "chairs",
  "tables",
  "mirrors",
  "rugs",
];

/** Help pages of a shop, each of which leads to the next ten. */
function pagesOfSite() {
  const nths = Array.from({ length: PAGES }, (_, nth) => nth);
  const linksOf = (nth: number) => {
    const next = nths.slice(nth * 10 + 1, nth * 10 + 11);
    return next.map((to) => `<a href="/help/${to}">Page ${to}</a>`).join(" ");
  };
  return Object.fromEntries(
    nths.map((nth) => {
      const topic = TOPICS[nth % TOPICS.length];
      const text = `<h1>Model ${nth} of our ${topic}</h1><p>The guarantee of model m${nth}x is ${nth + 1} months.</p>`;
      return [nth === 0 ? "/help/" : `/help/${nth}`, html(`${text}${linksOf(nth)}`, `Model ${nth}`)];
    }),
  );
}

test("from init to an answer with its sources: ten files and 200 pages", async ({
  expect,
  visit,
  onTestFinished,
}) => {
  const begun = performance.now();
  const site = await openSite(pagesOfSite());
  const folder = temporaryFolder();
  mkdirSync(join(folder, "rules"));
  for (const [nth, topic] of TOPICS.entries())
    writeFileSync(
      join(folder, "rules", `${topic}.md`),
      `# ${topic}\n\nOur ${topic} may be returned for ${nth + 20} days.\n`,
    );

  // The owner's own page, as it will be.
  const page = createServer((_request, response) => {
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>Shop</title>${paste.join("")}`);
  });
  page.listen(0, "127.0.0.1");
  await once(page, "listening");
  onTestFinished(() => void page.close());
  const address = page.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

  // 1. Six answers.
  const port = await freePort();
  const places = `${site.origin}/help/ ${join(folder, "rules")}`;
  const given = [
    "--origin",
    origin,
    "--url",
    `http://127.0.0.1:${port}`,
    "--model",
    "demo",
    "--documents",
    places,
  ];
  const made = await runCommand({}, ["init", "--json", "--dir", folder, ...given]);
  const { start, paste } = JSON.parse(made.out) as { start: string; paste: string[] };
  // 2. The line that it prints.
  const env = { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"] };
  const service = spawn("bash", ["-c", `exec ${start}`], { cwd: folder, env });
  onTestFinished(() => void service.kill("SIGKILL"));
  for await (const line of createInterface({ input: service.stdout })) if (line.includes('"url":')) break;
  service.stdout.resume();
  // 3. Both sources are read; a command says when.
  const list = async () => {
    const { out } = await runCommand({ DATA_DIR: join(folder, "data") }, [
      "knowledge",
      "list",
      "website",
      "--json",
    ]);
    return (JSON.parse(out) as { state: string; pages: number }[]).map(({ state, pages }) => [state, pages]);
  };
  await expect.poll(list, { timeout: 120_000, interval: 500 }).toEqual([
    ["read", PAGES],
    ["read", TOPICS.length],
  ]);
  // 4. The chat on the page answers from either, and says from where.
  const { page: seen, troubles } = await visit(browser, `${origin}/`);
  const chat = seen.locator("chat-agent");
  await chat.getByRole("button").first().click();
  const ask = async (question: string) => {
    await chat.getByRole("textbox").fill(question);
    await chat.getByRole("textbox").press("Enter");
  };
  const sources = () =>
    chat.getByRole("navigation", { name: "Sources" }).last().getByRole("listitem").first();
  await ask("What is the guarantee of model m137x?");
  await chat.getByText("The guarantee of model m137x is 138 months.").first().waitFor();
  await expect
    .poll(() => sources().getByRole("link").getAttribute("href"), SOON)
    .toBe(`${site.origin}/help/137`);
  await ask("How long may I return mirrors?");
  await chat.getByText("Our mirrors may be returned for 28 days.").first().waitFor();
  await expect.poll(() => sources().textContent(), SOON).toBe("mirrors");
  expect(performance.now() - begun).toBeLessThan(300_000);
  expect(troubles).toEqual([]);
});
