// For src/http/widget-api/, src/threads/
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { playWidget } from "./widget-scenario.ts";

test("the same conversation with what `npm start` brings: the demo channel and the demo model", async () => {
  const DATA_DIR = temporaryFolder();
  const { url, output } = await startServiceProcess({ DATA_DIR });
  const origin = /"demoUrl":"([^"]+)"/.exec(output.stdout.join("\n"))?.[1] ?? "";
  const keys = JSON.parse(readFileSync(join(DATA_DIR, "keys.json"), "utf8")) as {
    demo: { publishableKey: string };
  };
  const { publishableKey } = keys.demo;
  const told: string[] = [];
  await playWidget({ urls: [url], origin: new URL(origin).origin, publishableKey }, (sentence) =>
    told.push(sentence),
  );
  expect(told.at(-1)).toBe("the history holds the message, the reply and its steps");
});
