// For src/agent/attached-images.ts
import { expect, test } from "vitest";
import { shownImages, userMessage } from "../../src/agent/attached-images.ts";

test("G4: a private address that an earlier version stored is not given to the model", () => {
  const attachments = [
    { url: "https://127.0.0.1/a.png", name: "a.png" },
    { url: "https://cdn.example/b.png" },
  ];
  const said = { runId: "r", attachments, content: "What is this?" };
  const { images } = userMessage(said, shownImages(said, [], undefined), () => ({ text: "", images: [] }));
  expect(images).toEqual([
    { label: "a.png", url: null },
    { label: "https://cdn.example/b.png", url: "https://cdn.example/b.png" },
  ]);
});
