// For src/console/administration/audit-words.ts
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wordsOf } from "../../src/console/administration/audit-words.ts";

/** The names that stand in the code that writes the audit. */
function actions(): string[] {
  const texts = ["src/operators", "src/http/operator-api"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(folder, file), "utf8")),
  );
  const named =
    /"((?:call|channels|knowledge|messengers|webhooks|users|threads?|desk|handoff|ips|operators)\.[a-z-]+)"/g;
  return [...new Set(texts.flatMap((text) => [...text.matchAll(named)].map(([, name = ""]) => name)))];
}

/** Names of the same form that are none of the audit. */
const OTHERS = ["handoff.requested", "handoff.taken", "handoff.returned", "users.list"];

test("everything that the audit names has words", () => {
  const all = actions().filter((name) => !OTHERS.includes(name));
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((name) => wordsOf(name) === name)).toEqual([]);
});

test("what it does not know is shown by its name", () => {
  expect(wordsOf("rooms.paint")).toBe("rooms.paint");
  expect(wordsOf("toString")).toBe("toString");
});
