// For src/installation/keys-file.ts, src/installation/kept-keys.ts
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashKey } from "../../src/keys.ts";
import { openKeysFile, readKeysFile } from "../../src/installation/keys-file.ts";
import { Secret } from "../../src/secret.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "keys-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

test("openKeysFile() makes keys once and knows them at the next start", () => {
  expect(readKeysFile(dataDir)).toBeNull();
  const first = openKeysFile(join(dataDir, "new", "folder"));
  const second = openKeysFile(join(dataDir, "new", "folder"));
  expect(second.harnessApiKey.reveal()).toBe(first.harnessApiKey.reveal());
  expect(second.demo.publishableKey).toBe(first.demo.publishableKey);
  expect(second.demo.secretKey.reveal()).toBe(first.demo.secretKey.reveal());
  expect(first.demo.publishableKey).toMatch(/^pk_[\w-]{43}$/);
  expect(first.demo.secretKey.reveal()).toMatch(/^sk_[\w-]{43}$/);
});

test("P15: the keys file is its owner's alone, also where it was not", () => {
  openKeysFile(dataDir);
  const path = join(dataDir, "keys.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);

  const text = readFileSync(path, "utf8");
  rmSync(path);
  writeFileSync(path, text, { mode: 0o644 });
  readKeysFile(dataDir);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("P15: a broken keys file is refused without a word of what is in it", () => {
  writeFileSync(join(dataDir, "keys.json"), '{"harnessApiKey": "canary", broken');
  expect(() => openKeysFile(dataDir)).toThrow(/^Cannot read .*keys\.json: it is no keys file/);
  expect(() => openKeysFile(dataDir)).not.toThrow(/canary/);
});

test("hashKey() is SHA-256 in lower-case hex", () => {
  expect(hashKey(new Secret("sk_shop"))).toMatch(/^[0-9a-f]{64}$/);
  expect(hashKey(new Secret("sk_shop"))).not.toBe(hashKey(new Secret("sk_shop2")));
});
