import { expect, test } from "vitest";
import { Secret } from "../../src/secret.ts";
import { greetingText } from "../../src/start/greeting.ts";
import type { ConsoleGreeting } from "../../src/start/greeting.ts";

function greeting(console: ConsoleGreeting | null): string {
  return greetingText({
    url: "http://127.0.0.1:8080",
    demoUrl: null,
    isDemoHeldBack: false,
    inspectorUrl: null,
    console,
    model: "demo",
    answers: [],
    generatedKey: null,
    demoKeys: null,
    channel: null,
  });
}

const url = "http://127.0.0.1:8080/console";

test("a start by hand gives a link that is ready", () => {
  expect(greeting({ url, key: { type: "link", key: new Secret("op_local") } })).toContain(
    "Console       http://127.0.0.1:8080/console#key=op_local\n",
  );
});

test("what may be kept by anybody has the place of the key, and not the key", () => {
  const text = greeting({ url, key: { type: "kept", path: "data/keys.json" } });
  expect(text).toContain(`Console       ${url}\n`);
  expect(text).toContain("localOperator in data/keys.json");
  expect(text).not.toContain("op_");
  expect(greeting({ url, key: null })).toContain(`Console       ${url}\n`);
});

test("without a console none is named", () => {
  expect(greeting(null)).not.toContain("onsole");
});
