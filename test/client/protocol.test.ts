// For src/protocol/, src/client/create-client.ts
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isLine } from "../../src/protocol/fits.ts";
import { madeOfProtocol } from "../support/house/protocol.ts";

test("what is made of the protocol's schemas is as they are; npm run protocol writes it", async () => {
  for (const [file, text] of await madeOfProtocol()) expect(readFileSync(file, "utf8")).toBe(text);
});

describe("isLine()", () => {
  test.each([
    { type: "delta", text: "" },
    { type: "step", id: "buy", phase: "running", text: "Buying", ofNewerVersion: 1 },
    { type: "tool_call", tool: "buy", arguments: {}, callId: "c1" },
    { type: "done", elapsedMs: 0 },
    { type: "error", message: "Broken", code: "of_newer_version" },
  ])("takes $type with what it must have, whatever else it has", (line) => {
    expect(isLine(line)).toBe(true);
  });

  test.each([
    null,
    "delta",
    [],
    {},
    { type: "delta" },
    { type: "constructor" },
    { type: "of_newer_version", text: "" },
    { type: "step", id: "buy", phase: "paused", text: "Buying" },
    { type: "tool_call", tool: "buy", arguments: null, callId: "c1" },
    { type: "done" },
  ])("refuses %j", (value) => {
    expect(isLine(value)).toBe(false);
  });
});
