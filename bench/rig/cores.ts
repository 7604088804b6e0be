import { execFileSync } from "node:child_process";

/** The whole server stack is on one core, its load on the other: so "a second" means a second of one core. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Binds a process and its threads; processes that it starts later inherit this. */
export function pin(pid: number, core: number): void {
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)], {
    stdio: "ignore",
  });
}
