// For src/demo/model/demo-model.ts, src/demo/model/see.ts
import { expect, test } from "vitest";
import { see } from "../../src/demo/model/see.ts";
import { imageOf, pngOf, TINY_PNG } from "../support/images.ts";
import { startTurn } from "../support/servers/open-model.ts";
import { openDemoModel } from "./open-demo-model.ts";

const bytes = (type: string, parts: (number | string)[]) =>
  `data:image/${type};base64,${Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from([part]))),
  ).toString("base64")}`;

test("a PNG is told by its size and its colours, the most frequent first, however its rows are filtered", () => {
  const flag = pngOf(60, 40, (_, y) => (y < 25 ? [200, 30, 40] : [250, 250, 250]));
  expect(see(flag)).toBe("PNG, 60 × 40, red, white");
  const noise = pngOf(50, 50, (x, y) => [(x * 7) % 30, (y * 5 + x) % 40, 200 + ((x + y) % 50)]);
  expect(see(noise)).toBe("PNG, 50 × 50, blue");
  expect(see(TINY_PNG)).toMatch(/^PNG, 1 × 1, \w+$/);
});

test.each([
  [[10, 12, 9], "black"],
  [[120, 122, 125], "grey"],
  [[240, 220, 40], "yellow"],
  [[30, 160, 60], "green"],
  [[120, 70, 20], "brown"],
  [[240, 130, 20], "orange"],
  [[130, 40, 200], "purple"],
])("%j is %s", (colour, name) => {
  expect(see(pngOf(2, 2, () => colour))).toBe(`PNG, 2 × 2, ${name}`);
});

test.each<[string, string, string]>([
  [
    "a JPEG",
    bytes("jpeg", ["\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\x01\x2c\x02\x80\x01"]),
    "JPEG, 640 × 300",
  ],
  ["a GIF", bytes("gif", ["GIF89a\x80\x02\x2c\x01"]), "GIF, 640 × 300"],
  [
    "a lossy WebP",
    bytes("webp", ["RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\x2c\x01"]),
    "WEBP, 640 × 300",
  ],
  ["a lossless WebP", bytes("webp", ["RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x4a\0"]), "WEBP, 640 × 300"],
  [
    "a WebP with features",
    bytes("webp", ["RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\x02\0\x2b\x01\0"]),
    "WEBP, 640 × 300",
  ],
])("%s is told by its size", (_what, url, told) => {
  expect(see(url)).toBe(told);
});

test("an image that is broken is told by what it says it is; an address is not fetched", () => {
  for (const type of ["png", "jpeg", "gif", "webp"] as const) {
    expect(see(imageOf(type, 13))).toMatch(new RegExp(`^${type.toUpperCase()}`));
  }
  const flag = pngOf(60, 40, () => [1, 2, 3]);
  expect(see(flag.slice(0, -40))).toMatch(/^PNG, 60 × 40/);
  expect(see("https://cdn.example/photo.png?key=1")).toBe("cdn.example");
});

test("the demo model says what it sees, and answers the next question as ever", async () => {
  const model = await openDemoModel();
  const images = [{ label: "flag.png", url: pngOf(60, 40, () => [200, 30, 40]) }];
  const question = { role: "user" as const, content: "What do you see in this picture?", images };
  const seen = (await startTurn(model, { request: { messages: [question] } }).turn).text;
  expect(seen).toContain("PNG, 60 × 40, red");
  const next = [
    question,
    { role: "assistant" as const, content: seen, calls: [] },
    { role: "user" as const, content: "Thanks" },
  ];
  expect((await startTurn(model, { request: { messages: next } }).turn).text).not.toContain("60 × 40");
});
