import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  test: {
    include: ["test/**/*.test.ts"],
    // Real Redis servers, browsers and killed processes: slow machines need the room, and nothing asserts on time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    // Concurrent tests wait for timers of real sockets, and for nothing else.
    maxConcurrency: 40,
  },
});
