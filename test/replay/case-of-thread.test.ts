import { expect, test } from "vitest";
import { caseOfThread } from "../../src/replay/case-of-thread.ts";
import { speakerOf } from "../../src/replay/case.ts";
import { message } from "../agent/run.ts";

test("the site's facts are the case's, and an image is told to be left out", () => {
  const speaker = { displayName: "Ada", page: null, customerContext: null, attributes: { plan: "pro" } };
  const attachments = [{ type: "image/png", chars: 40 }];
  const { recorded, notes } = caseOfThread({
    slug: "shop",
    uid: "t",
    agent: {},
    catalog: [],
    serverTools: [],
    messages: [
      message(1, "user", "What is this?", { attachments }),
      message(2, "assistant", "A shoe.", { runId: "run-1" }),
      message(3, "user", "Thanks"),
    ],
    api: "server",
    speaker,
    usage: new Map(),
  });
  expect(recorded.visitor).toEqual({ displayName: "Ada", attributes: { plan: "pro" } });
  expect(speakerOf(recorded.visitor)).toEqual(speaker);
  expect(recorded.exchanges.map(({ user, reply }) => [user, reply])).toEqual([
    ["What is this?", "A shoe."],
    ["Thanks", undefined],
  ]);
  expect(notes).toEqual(["Messages with images are replayed with their text alone: 1."]);
});
