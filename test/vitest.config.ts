import { hash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
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
// A folder for each state of the lock file: vitest empties its own where that has changed, and then misses it. npm takes it away
// with each install, and two processes that make it at the same time can fail.
const lock = hash("sha256", readFileSync(join(root, "package-lock.json"))).slice(0, 16);
const moduleCache = join(root, "node_modules/.experimental-vitest-cache", lock);
mkdirSync(moduleCache, { recursive: true });
const cores = availableParallelism();
/** What opens sockets or a whole store, or takes seconds: `npm run test:fast` leaves it out. */
const LONG = [
  "**/*.stores",
  "{cli,demo,http,identity,operators,replay,service-wide,traces,webhooks}/**/*",
  "agent/{create-agent,tools/offered-tools,mcp/*,history/summarize}",
  "client/**/*",
  "knowledge/*",
  "domain/{name-map,operator-name}",
  "faults/**/*",
  "listeners/{node,uws}",
  "machines/thread",
  "models/{chains,faults,images,openai,push-fetch}",
  "models/{contract/contract,refusals/learn,refusals/refusals,refusals/small-contexts}",
  "models/reply/{endings,odd-streams,split-streams}",
  "protocol/*",
  "service",
  "stores/{backup,check,engine}/*",
  "stores/{lmdb,content-keys}/*",
  "threads/{feeds,handoff,recover}/*",
  "visitors/silent-visitors",
  "widget/{script,without-browser/feed,without-browser/markdown}",
].map((name) => `test/${name}.test.ts`);

/** Seconds for each, also in their short form: `TESTS=short` leaves them out, as .ci/run does on other versions of Node. */
const LONGEST = [
  "cli/machines",
  "domain/name-map",
  "faults/{flaky/flaky-store.stores,crash/scenarios}",
  "listeners/{node,uws}",
  "stores/check/suspicions",
  "stores/backup/{check,restore}.stores",
  "versions/unreadable.stores",
].map((name) => `test/${name}.test.ts`);

const LEFT_OUT: Readonly<Record<string, readonly string[]>> = { fast: LONG, short: LONGEST };

/**
 * Old releases, and faults that take minutes to wait for: `NIGHTLY=full` plays them, as .ci/nightly does. Of each, others
 * of the same folder are played with every change.
 */
const NIGHTLY = [
  "faults/forgotten.redis",
  "stores/backup/grow.redis",
  "topology/{hung-primary,lagging-replica}.redis",
  "versions/{newer-threads,fleet/rolling-upgrade}.redis",
].map((name) => `test/${name}.test.ts`);

export default defineConfig({
  root,
  test: {
    teardownTimeout: 60_000,
    reporters: ["default", "test/support/failed-files.ts"],
    // What a module becomes is kept by its content: for the next project, and for the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: moduleCache },
    // Once for all projects, which is why they do not extend this one.
    globalSetup: ["test/support/own-temporary-folder.ts", "test/support/fresh-build.ts"],
    projects: [
      project("fast", {
        include: ["test/**/*.test.ts"],
        exclude: [
          ...named("redis", "browser", "process", "process-stores", "slow"),
          ...(LEFT_OUT[process.env["TESTS"] ?? ""] ?? []),
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
        exclude: process.env["NIGHTLY"] === "full" ? [] : NIGHTLY,
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
