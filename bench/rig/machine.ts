import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { CannotMeasure } from "./cannot-measure.ts";

const PROGRAMS = { taskset: "util-linux", "redis-server": "redis-server" };

/** Throws CannotMeasure unless this is Linux with two cores, Redis, and a program that binds processes to cores. */
export function checkMachine(): void {
  if (process.platform !== "linux") throw new CannotMeasure("Cannot measure: this needs Linux");
  if (availableParallelism() < 2)
    throw new CannotMeasure("Cannot measure: this needs two cores, one for the service and one for its load");
  for (const [program, packageName] of Object.entries(PROGRAMS)) {
    if (spawnSync(program, ["--version"]).error)
      throw new CannotMeasure(
        `Cannot measure: ${program} is missing, of Debian's and Ubuntu's package ${packageName}`,
      );
  }
}
