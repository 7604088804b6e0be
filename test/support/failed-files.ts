import { appendFileSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Appends the files that failed to the file of `FAILED_FILES`, a line each: the project and the file. CI plays these once
 * more. It lists none where an error outside of every test came while another file was played: no other try answers for that.
 */
export default class FailedFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const list = process.env["FAILED_FILES"];
    if (list === undefined) return;
    const failed = modules.filter((module) => !module.ok());
    const paths = new Set(failed.map(({ moduleId }) => moduleId));
    if (errors.some((error) => !paths.has(String(error["VITEST_TEST_PATH"])))) return;
    for (const { project, relativeModuleId } of failed)
      appendFileSync(list, `${project.name} ${relativeModuleId}\n`);
  }
}
