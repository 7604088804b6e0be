// For src/start/greeting.ts, src/installation/local-operator.ts, src/installation/local-door.ts
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKeysFile } from "../../src/installation/keys-file.ts";
import { Secret } from "../../src/secret.ts";
import { greetingText } from "../../src/start/greeting.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

const greeting = {
  url: "http://127.0.0.1:8080",
  demoUrl: "http://127.0.0.1:8081",
  isDemoHeldBack: false,
  console: { url: "http://127.0.0.1:8080/console", key: new Secret("op_secret") },
  model: "demo",
  answers: [],
  generatedKey: new Secret("tk_secret"),
  hasSeveralKeys: false,
  demoKeys: { publishableKey: "pk_public", secretKey: new Secret("sk_secret") },
  channel: "cli",
} as const;

test("the greeting has the keys, and a line to paste with one", () => {
  const text = greetingText({ ...greeting, keysFile: null });
  for (const key of ["tk_secret", "sk_secret", "op_secret"]) expect(text).toContain(key);
  expect(text).toContain('"authorization: Bearer tk_secret"');
});

test("the console's link has the key of the local operator on a terminal, and else where it is", () => {
  const { url } = greeting.console;
  expect(greetingText({ ...greeting, keysFile: null })).toContain(`${url}#key=op_secret\n`);
  expect(greetingText({ ...greeting, keysFile: "/data/keys.json" })).toContain(
    "localOperator in /data/keys.json",
  );
  expect(greetingText({ ...greeting, console: null, keysFile: null })).not.toContain("console");
});

test("A4, P15: where stderr is no terminal it says where the keys are, and has none but the public one", () => {
  const text = greetingText({ ...greeting, keysFile: "/data/keys.json" });
  expect(text).not.toMatch(/(?:tk|sk|op)_secret/);
  expect(text).toContain("in /data/keys.json");
  expect(text).toContain("pk_public");
  expect(text).not.toContain("HARNESS_API_KEY");
  const { url } = greeting.console;
  const configured = { ...greeting, generatedKey: null, demoKeys: null, console: { url, key: null } };
  expect(greetingText({ ...configured, keysFile: "/data/keys.json" })).not.toContain("keys.json");
});

test("A4: the line to paste reads the key from the file, whatever the folder is called", () => {
  const folder = join(temporaryFolder(), "it's $HOME");
  const { harnessApiKey } = openKeysFile(folder);
  const text = greetingText({ ...greeting, keysFile: join(folder, "keys.json") });
  const line = text.split("\n").find((one) => one.startsWith("curl ")) ?? "";
  const said = execFileSync("sh", ["-c", line.replace("curl", "printf '%s\\n'")], { encoding: "utf8" });
  expect(said).toContain(`authorization: Bearer ${harnessApiKey.reveal()}\n`);
});
