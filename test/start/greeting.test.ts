import { describe, expect, test } from "vitest";
import { Secret } from "../../src/secret.ts";
import { greetingText } from "../../src/start/greeting.ts";
import { isKeptByOthers } from "../../src/start/kept-by-others.ts";

const greeting = {
  url: "http://127.0.0.1:8080",
  demoUrl: "http://127.0.0.1:8081",
  isDemoHeldBack: false,
  inspectorUrl: "http://127.0.0.1:8080/machines#key=in_secret",
  console: { url: "http://127.0.0.1:8080/console", key: { type: "kept", path: "/data/keys.json" } },
  model: "demo",
  answers: [],
  generatedKey: new Secret("tk_secret"),
  hasSeveralKeys: false,
  demoKeys: { publishableKey: "pk_public", secretKey: new Secret("sk_secret") },
  channel: "cli",
} as const;

test("the greeting has the keys, and a line to paste with one", () => {
  const text = greetingText({ ...greeting, keysFile: null });
  for (const key of ["tk_secret", "sk_secret", "in_secret"]) expect(text).toContain(key);
  expect(text).toContain("'authorization: Bearer tk_secret'");
});

test("the console's link has the key of the local operator on a terminal, and else where it is", () => {
  const { url } = greeting.console;
  const linked = { url, key: { type: "link", key: new Secret("op_secret") } } as const;
  expect(greetingText({ ...greeting, console: linked, keysFile: null })).toContain(`${url}#key=op_secret\n`);
  expect(greetingText({ ...greeting, keysFile: null })).toContain("localOperator in /data/keys.json");
  expect(greetingText({ ...greeting, console: null, keysFile: null })).not.toContain("console");
});

test("P15: a greeting that others keep says where the keys are, and has none but the public one", () => {
  const text = greetingText({ ...greeting, keysFile: "/data/keys.json" });
  expect(text).not.toMatch(/(?:tk|sk|in)_secret/);
  expect(text).toContain("in /data/keys.json");
  expect(text).toContain("pk_public");
  expect(text).toContain("${HARNESS_API_KEY:?");
  const { url } = greeting.console;
  const configured = { ...greeting, generatedKey: null, demoKeys: null, console: { url, key: null } };
  expect(greetingText({ ...configured, keysFile: "/data/keys.json" })).not.toContain("keys.json");
});

describe("isKeptByOthers()", () => {
  const stat = () => ({ dev: 8, ino: 15 });
  const pipe = { isTerminal: false, pid: 70, journalStream: undefined, stat };
  test.each([
    ["a terminal", { ...pipe, isTerminal: true, pid: 1 }, false],
    ["a pipe or a file of who started it", pipe, false],
    ["a container's log", { ...pipe, pid: 1 }, true],
    ["the journal", { ...pipe, journalStream: "8:15" }, true],
    ["a file, of a unit's child", { ...pipe, journalStream: "8:16" }, false],
  ])("%s", (_, stderr, kept) => {
    expect(isKeptByOthers(stderr)).toBe(kept);
  });
});
