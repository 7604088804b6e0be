import { ChildProcess } from "node:child_process";
import { basename } from "node:path";
import { inject } from "vitest";
import { PROGRAMS } from "./programs.ts";

/** What a project's tests are given by test/vitest.config.ts. */
declare module "vitest" {
  interface ProvidedContext {
    project: "fast" | "slow" | "process" | "redis" | "browser";
    /** The kinds of store that suites for each of them are played on. */
    stores: ("embedded" | "redis")[];
  }
}

/** Holds each test file to its name: a file that starts what its project does not have fails, and is told its name. */
const project = inject("project");
const spawn: unknown = Reflect.get(ChildProcess.prototype, "spawn");
if (typeof spawn !== "function")
  throw new Error("Cannot watch over processes: this Node starts them otherwise");

Reflect.set(
  ChildProcess.prototype,
  "spawn",
  function (this: ChildProcess, options: { file: string }): unknown {
    const kind = kindOf(basename(options.file));
    if (kind !== project && !ALSO[project]?.includes(kind)) {
      throw new Error(`Cannot start ${options.file}: only a test file named *.${kind}.test.ts may`);
    }
    return Reflect.apply(spawn, this, [options]);
  },
);

/** What a project's files may start besides what gives them their name. */
const ALSO: Partial<Record<typeof project, readonly Kind[]>> = {
  redis: ["process"],
  browser: ["process", "redis"],
};

type Kind = "redis" | "browser" | "process";

function kindOf(command: string): Kind {
  if (PROGRAMS.redis.commands.some((each) => command === each)) return "redis";
  return PROGRAMS.browser.commands.some((each) => command === basename(each)) ? "browser" : "process";
}
