import type { Reporter, TestCase } from "vitest/node";

/**
 * Says in the end which tests passed only when they were played again, and how they had failed: each of them is a fault of
 * the test or of the service that is still to be found.
 */
export default class SecondTry implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    this.#lines.push(`Passed at the second try: ${test.module.relativeModuleId} > ${test.fullName}`);
    for (const { message, stacks = [] } of test.result().errors ?? []) {
      const at = stacks[0] === undefined ? "" : ` (${stacks[0].file}:${stacks[0].line})`;
      this.#lines.push(`  ${message.split("\n").slice(0, 8).join("\n  ")}${at}`);
    }
  }

  onTestRunEnd(): void {
    for (const line of this.#lines) console.info(line);
  }
}
