import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { TestProjectInlineConfiguration } from "vitest/config";
import type { ProvidedContext } from "vitest";
import { pathOf } from "./support/programs.ts";
import type { Program } from "./support/programs.ts";

/**
 * What a test file needs is the last word of its name (test/README.md): `x.redis.test.ts` starts Redis servers,
 * `x.browser.test.ts` Chromium, `x.process.test.ts` other processes, `x.slow.test.ts` takes seconds, in a process of its
 * own. Any other is fast. `x.stores.test.ts` is played on the embedded store and, in project `redis`, on Redis; so is
 * `x.process-stores.test.ts`, with processes.
 */
const named = (...words: string[]) => words.map((word) => `test/**/{*.,}${word}.test.ts`);

const root = fileURLToPath(new URL("..", import.meta.url));
// Vitest's own, which npm takes away with each install: two of its processes that make it at the same time can fail.
mkdirSync(join(root, "node_modules/.experimental-vitest-cache"), { recursive: true });
const cores = availableParallelism();
/** Seconds for each, also in their short form: a store's whole check, the listener's contract, plays with faults. */
const LONG = [
  "cli/machines",
  "faults/flaky-store.stores",
  "faults/scenarios",
  "listeners/node",
  "listeners/uws",
  "stores/backup/check.stores",
  "stores/backup/restore.stores",
  "versions/unreadable.stores",
].map((name) => `test/${name}.test.ts`);

export default defineConfig({
  root,
  test: {
    teardownTimeout: 60_000,
    reporters: ["default", "test/support/failed-files.ts"],
    // What a module becomes is kept by its content: for the next project, and for the next run.
    experimental: { fsModuleCache: true },
    // Once for all projects, which is why they do not extend this one.
    globalSetup: ["test/support/own-temporary-folder.ts", "test/support/fresh-build.ts"],
    projects: [
      project("fast", {
        include: ["test/**/*.test.ts"],
        exclude: [
          ...named("redis", "browser", "process", "process-stores", "slow"),
          ...(process.env["TESTS"] === "fast" ? LONG : []),
        ],
        stores: ["embedded"],
        // Concurrent tests here wait for sockets that stay silent.
        maxConcurrency: 25,
      }),
      // What fills a process's memory has one of its own.
      project("slow", { include: named("slow"), maxConcurrency: 25, isolate: true }),
      project("process", { include: named("process", "process-stores"), stores: ["embedded"] }),
      project("redis", {
        include: named("redis", "stores", "process-stores"),
        stores: ["redis"],
        needs: "redis",
      }),
      // Each concurrent test has a page of its own, and a page wants a core.
      project("browser", {
        include: named("browser"),
        needs: "browser",
        maxConcurrency: cores,
      }),
    ],
  },
});

/** Where a project's program is missing, its tests are skipped, and counted as skipped. */
function project(
  name: ProvidedContext["project"],
  options: {
    include: string[];
    exclude?: string[];
    stores?: ProvidedContext["stores"];
    needs?: Program;
    maxConcurrency?: number;
    isolate?: boolean;
  },
): TestProjectInlineConfiguration {
  const { stores = [], needs, ...test } = options;
  const isMissing = needs !== undefined && pathOf(needs) === null;
  return {
    root,
    test: {
      name,
      pool: "forks",
      // Tests wait as much as they compute: with one more, no core is idle.
      maxWorkers: cores + 1,
      // A process plays many files: else a third of what the tests compute is loading the same modules again.
      isolate: false,
      setupFiles: ["test/support/guard-processes.ts"],
      // Nothing asserts on time: these only end what hangs, on a machine that may be busy with anything else.
      testTimeout: 180_000,
      hookTimeout: 180_000,
      expect: { poll: { timeout: 60_000, interval: 20 } },
      provide: { project: name, stores },
      ...test,
      ...(isMissing ? { runner: "test/support/skip-all.ts" } : {}),
    },
  };
}
