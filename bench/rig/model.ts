import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Pace } from "./upstream.ts";

/** The benchmark's model, running. */
export interface BenchModel {
  /** Ends in `/v1`. */
  baseUrl: string;
  port: number;
  pid: number;
  /** Takes effect for requests after it has resolved. */
  pace(pace: Partial<Pace>): Promise<void>;
  stop(): void;
}

/** Starts it in a process of its own, on this process's core. */
export async function startModel(): Promise<BenchModel> {
  const child = fork(fileURLToPath(import.meta.resolve("./upstream.js")));
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    pid: child.pid ?? 0,
    async pace(pace) {
      child.send({ everyMs: 0, holds: false, ...pace } satisfies Pace);
      await once(child, "message");
    },
    stop: () => void child.kill(),
  };
}
