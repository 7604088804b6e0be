// For bench/rig/plots.ts
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { withPlots } from "../../bench/rig/plots.ts";

const page = readFileSync(new URL("../../bench/README.md", import.meta.url), "utf8");

const PEERS = `Before.

| who | messages/s | first text ms | CPU ms |
| --- | --- | --- | --- |
| **this service** | 1,176 | 37.2 / 90.9 | 0.840 (0.790–0.912) |
| by hand | 1,900 | 20.1 / 60.0 | 0.5 |
| Mastra | not measured: it does not start |

After.
`;

/** What the plot says, without how it looks. */
function wordsOf(svg = ""): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, words = ""]) => words);
}

test("a plot says what its table says, below it, and leaves out who was not measured", () => {
  const { markdown, files } = withPlots(PEERS);
  expect(markdown).toMatch(
    /does not start \|\n\n!\[CPU [^\]]+\]\(plots\/peers-cpu-per-message\.svg\)\n\nAfter\.\n$/,
  );
  expect(markdown.replace(/!\[.*\n\n/, "")).toBe(PEERS);
  const words = wordsOf(files.get("peers-cpu-per-message.svg"));
  expect(words).toEqual(expect.arrayContaining(["this service", "by hand", "0.84", "0.5"]));
  expect(words).not.toContain("Mastra");
});

test("the page has the tables that the service's plots are drawn from", () => {
  expect([...withPlots(page).files.keys()]).toEqual(
    expect.arrayContaining(["cpu-per-message.svg", "memory-per-stream.svg"]),
  );
});

test("Markdown without such tables stays as it is", () => {
  const text = "# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nText.\n";
  expect(withPlots(text)).toEqual({ markdown: text, files: new Map() });
});
