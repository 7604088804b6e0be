// For src/log.ts, src/secret.ts
import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createHider, createLog, openLines } from "../src/log.ts";
import { Secret } from "../src/secret.ts";
import { temporaryFolder } from "./support/stores/data-dir.ts";

/** A log and the lines it wrote. */
function openTestLog(secrets: Secret[] = [new Secret('canary"key\\1')]) {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    secrets,
    destination: { write: (line) => void lines.push(line) },
  });
  return { log, lines };
}

describe("the log", () => {
  test("writes one JSON object per line", () => {
    const { log, lines } = openTestLog();
    log.info({ slug: "shop", name: "a\r\nb \u001b[31m" }, "Said");
    expect(lines).toHaveLength(1);
    expect(lines[0]?.trimEnd()).not.toContain("\u001b");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 30, slug: "shop", msg: "Said" });
  });

  test("P15: hides a known secret wherever it stands", () => {
    const { log, lines } = openTestLog();
    const value = 'canary"key\\1';
    const cause = new Error(`Cannot log in with ${value}`);
    log.error({ err: new Error(`Cannot connect: ${value}`, { cause }) }, "Failed");
    log.error({ err: Object.assign(new Error("refused"), { config: { deep: [value] } }) }, value);
    log.warn({ [value]: 1, url: `http://x/?key=${encodeURIComponent(value)}` }, `Got ${value}`);
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      expect(line).not.toContain("canary");
      expect(line).toContain("[secret]");
      expect(() => void JSON.parse(line)).not.toThrow();
    }
  });

  test("P15: hides what looks like a credential, known or not", () => {
    const { log, lines } = openTestLog([]);
    log.error(
      { err: new Error("401 for authorization: Bearer canary.1") },
      "with sk_canary_2 and sk-canary-3",
    );
    log.warn({ err: new Error("connect redis://user:canary4@redis.example:6379") }, "Lost");
    log.info({ authorization: "canary5", deep: { apiKey: "canary6", secretKey: "canary7" } }, "Told");
    log.info({ key: new Secret("canary8") }, "Told");
    for (const line of lines) expect(line).not.toContain("canary");
    expect(lines[1]).toContain("redis.example:6379");
  });

  test("G10: writes what a terminal would obey as escapes, in JSON and for people", async () => {
    const forged = "\n[99:00:00.000] INFO: forged\r[99:00:00.001] INFO: too\u2028\u001b[2K\u009b2K\u202ecba";
    const { log, lines } = openTestLog();
    log.warn({ err: new Error(`down ${forged}`), server: forged }, `Said ${forged}`);
    expect(lines[0]?.trimEnd()).not.toMatch(/[\u007f-\u009f\u2028\u202e]/);
    const { err, msg, server } = JSON.parse(lines[0] ?? "") as { err: Error; msg: string; server: string };
    for (const text of [err.message, msg, server]) {
      expect(text).toContain(String.raw`\n[99:00:00.000] INFO: forged\r[99`);
      expect(text).toContain(String.raw`\u2028\u001b[2K\u009b2K\u202ecba`);
    }
    expect(err.stack?.split("\n")[1]).toMatch(/^ {4}at /);

    const { PinoPretty } = await import("pino-pretty");
    const shown: string[] = [];
    const destination = new Writable({ write: (chunk, _, done) => done(void shown.push(String(chunk))) });
    const pretty = createLog({
      level: "info",
      secrets: [],
      destination: PinoPretty({ colorize: false, sync: true, destination }),
    });
    pretty.warn(
      { err: new Error(`down ${forged}`, { cause: new Error(forged) }), server: forged },
      `Said ${forged}`,
    );
    await expect.poll(() => shown.join("")).toContain("caused by");
    const rows = shown.join("").split(/[\r\n\u2028]/);
    expect(rows.filter((row) => row.trimStart().startsWith("[99:"))).toEqual([]);
    for (const control of ["\u001b", "\u009b", "\u202e"]) expect(shown.join("")).not.toContain(control);
  });

  test("G1: cuts what makes a line long, and keeps it JSON", () => {
    const { log, lines } = openTestLog();
    const text = "a".repeat(3_000_000);
    log.warn(
      { err: Object.assign(new Error(text), { data: { text, list: Array(1_000).fill("b".repeat(100)) } }) },
      "Said",
    );
    expect(lines[0]?.length).toBeLessThan(100_000);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: 40, msg: "Said", err: { type: "Error" } });
    expect(lines[0]).toContain("[cut: 3000000 characters]");
  });

  test("keeps quiet below its level", () => {
    const { log, lines } = openTestLog();
    log.debug("nothing");
    expect(lines).toEqual([]);
  });
});

test("createHider() replaces the longer of two secrets first", () => {
  const hide = createHider([new Secret("canary"), new Secret("canary-and-more")]);
  expect(hide("a canary-and-more b canary")).toBe("a [secret] b [secret]");
});

describe("F2: on a full disk", () => {
  test("a line is lost and counted, and the first alone is told", () => {
    const file = openSync("/dev/full", "w");
    const told: string[] = [];
    let lost = 0;
    const destination = openLines(
      file,
      () => (lost += 1),
      (text) => void told.push(text),
    );
    const log = createLog({ level: "info", secrets: [], destination });
    for (let nth = 0; nth < 10; nth++) log.info("Said");
    closeSync(file);
    expect(lost).toBe(10);
    expect(told).toEqual([expect.stringContaining("no space left")]);
  });

  test("whole lines come to a file that can be written", () => {
    const path = join(temporaryFolder(), "log");
    const file = openSync(path, "w");
    const destination = openLines(file, () => {});
    const texts = [`${"ä".repeat(1_000_000)}\n`, "Said\n"];
    for (const text of texts) destination.write(text);
    closeSync(file);
    expect(readFileSync(path, "utf8") === texts.join("")).toBe(true);
  });
});
