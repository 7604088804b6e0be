// For src/traces/opentelemetry.ts
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { sendMessage, TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { startReceiver } from "./receiver.ts";

/**
 * OpenTelemetry's packages that a service has loaded when it has answered, by what Node loaded; without `api`, which does
 * nothing by itself, and which prom-client loads for metrics of its own.
 */
async function loadedBy(env: Record<string, string>): Promise<string[]> {
  const folder = temporaryFolder();
  const told = join(folder, "loaded.txt");
  const tell = join(folder, "tell.cjs");
  // All of them are CommonJS: whatever imports one, Node's cache has its files.
  writeFileSync(
    tell,
    `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(told)}, Object.keys(require.cache).join("\\n")));`,
  );
  const service = await startServiceProcess({
    DATA_DIR: join(folder, "data"),
    HARNESS_API_KEY: TEST_KEY,
    NODE_OPTIONS: `--require=${tell}`,
    ...env,
  });
  const reply = await sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" });
  expect(reply.lines.at(-1)?.type).toBe("done");
  service.kill("SIGTERM");
  expect(await service.exit).toBe(0);
  const files = readFileSync(told, "utf8").split("\n");
  expect(files.some((file) => file.includes("/node_modules/"))).toBe(true);
  const names = files.map((file) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(file)?.[1] ?? "");
  return [...new Set(names)].filter((name) => name !== "" && name !== "@opentelemetry/api").sort();
}

test("without OTEL_EXPORTER_OTLP_ENDPOINT no package of OpenTelemetry is loaded; with it, those of one protocol are", async () => {
  const { url, spans } = await startReceiver();
  expect(await loadedBy({ OTEL_SERVICE_NAME: "alone" })).toEqual([]);
  const loaded = await loadedBy({ OTEL_EXPORTER_OTLP_ENDPOINT: url });
  expect(loaded).toContain("@opentelemetry/sdk-trace-base");
  expect(loaded).toContain("@opentelemetry/exporter-trace-otlp-proto");
  expect(loaded).not.toContain("@opentelemetry/exporter-trace-otlp-http");
  // What waited was sent before the process ended.
  expect(spans.map(({ name }) => name)).toContain("invoke_agent");
});
