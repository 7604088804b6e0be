import { appendFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Appends the files that failed to the file of `FAILED_FILES`, a line each: the project and the file. CI plays these once
 * more. After an error outside of every test it lists none, since nobody can say which file to play.
 */
export default class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const list = process.env["FAILED_FILES"];
    if (list === undefined || errors.length > 0) return;
    for (const module of modules) {
      if (module.ok()) continue;
      appendFileSync(list, `${module.project.name} ${module.relativeModuleId}\n`);
    }
  }
}
