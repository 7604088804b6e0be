import type { CheckResult } from "./checks.ts";
import type { PlayedCase } from "./play.ts";

/** A played case with the results of its checks. */
export interface CheckedCase {
  played: PlayedCase;
  checks: CheckResult[];
}

/** A report for CI: a test case for each case; an unfinished case is an error. */
export function junitOf(cases: readonly CheckedCase[]): string {
  const failures = cases.filter((each) => each.played.ended === null && faultsOf(each).length > 0).length;
  const errors = cases.filter(({ played }) => played.ended !== null).length;
  const seconds = cases.reduce((sum, { played }) => sum + played.elapsedMs, 0) / 1_000;
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}" time="${seconds.toFixed(3)}"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites ${counts}>`,
    `  <testsuite name="chat-agent replay" ${counts}>`,
    ...cases.map(testCase),
    `  </testsuite>`,
    `</testsuites>`,
    ``,
  ].join("\n");
}

function testCase(one: CheckedCase): string {
  const { recorded, ended, elapsedMs } = one.played;
  const head = `    <testcase classname="${escaped(recorded.channel ?? "replay")}" name="${escaped(recorded.name)}" time="${(elapsedMs / 1_000).toFixed(3)}"`;
  const faults = faultsOf(one);
  const told = [
    ...(ended === null
      ? []
      : [element("error", [`exchange ${ended.exchange + 1}: ${ended.reason}`, ...faults])]),
    ...(ended === null && faults.length > 0 ? [element("failure", faults)] : []),
  ];
  return told.length === 0 ? `${head}/>` : [`${head}>`, ...told, `    </testcase>`].join("\n");
}

/** The message is the first line, the text all of them: some tools show one, some the other. */
function element(name: "error" | "failure", lines: readonly string[]): string {
  return `      <${name} message="${escaped(lines[0] ?? "")}">${escaped(lines.join("\n"))}</${name}>`;
}

function faultsOf({ checks }: CheckedCase): string[] {
  return checks.flatMap(({ check, wanted, exchange, fault }) => {
    if (fault === null) return [];
    return [`${exchange === null ? "" : `exchange ${exchange + 1}: `}${check} ${wanted}: ${fault}`];
  });
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Characters that XML does not allow. */
// eslint-disable-next-line no-control-regex
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

function escaped(text: string): string {
  return text
    .replaceAll(NOT_XML, "\ufffd")
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
