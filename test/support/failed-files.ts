import { appendFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Appends the files that failed to the file of `FAILED_FILES`, a line each: the project and the file. CI plays these once
 * more. An error outside of every test is in none of them: alone, nobody can say which file to play.
 */
export default class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const list = process.env["FAILED_FILES"];
    if (list === undefined) return;
    for (const module of modules) {
      if (module.ok()) continue;
      appendFileSync(list, `${module.project.name} ${module.relativeModuleId}\n`);
    }
  }
}
