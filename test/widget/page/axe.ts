import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Visit } from "../browser.ts";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong with the element, in words. */
export async function violations({ page }: Visit): Promise<string[]> {
  // Evaluated by the debugger, not by the page: the page's policy stays in force.
  await page.evaluate(source);
  const results: AxeResults = await page.evaluate("axe.run('chat-agent')");
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
