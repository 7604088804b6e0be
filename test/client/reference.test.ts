// For src/client/
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { partOf, REFERENCE, referenceOfPackage } from "../support/house/reference.ts";

test("the page of the package's types is what its declarations say; npm run reference writes it", () => {
  expect(readFileSync(REFERENCE, "utf8")).toBe(referenceOfPackage());
});

test("each export has its comment, each member a row, and nothing else is told", () => {
  const source = `
/**
 * A package.
 *
 * @packageDocumentation
 */
import type { Other } from "./other.d.ts";
interface Hidden { nothing: string }
/** What is said. */
export interface Said extends Other {
  /** One of
   * two. */
  word: "a" | "b";
  bare?: number;
}
/** A choice. */
export type Choice = 1 | 2;
`;
  expect(partOf("x/y", source)).toBe(`## x/y

A package.

### \`Said\` extends \`Other\`

What is said.

| | |
|---|---|
| \`word: "a" \\| "b"\` | One of two. |
| \`bare?: number\` |  |

### \`Choice\`

A choice.

\`\`\`ts
export type Choice = 1 | 2;
\`\`\``);
});
