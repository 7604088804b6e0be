// For src/console/channels/standing.ts, src/console/users/what-goes.ts
import { expect, test } from "vitest";
import { faultText, standingOf, testText } from "../../src/console/channels/standing.ts";
import type { DeliveryView, WebhookView } from "../../src/console/service/views.ts";
import { goesText } from "../../src/console/users/what-goes.ts";

const taken: DeliveryView = {
  id: "msg_1",
  event: "run.ended",
  at: 1_800_000_000_000,
  attempt: 1,
  status: 204,
  fault: null,
  elapsedMs: 31,
};
const failed = { ...taken, status: 503, fault: "it answered 503" };
const office: WebhookView = {
  url: "https://office.example/chat",
  events: null,
  waiting: 0,
  offSince: null,
  deliveries: [taken],
};

test("an endpoint is off, failing or on", () => {
  const wordOf = (change: Partial<WebhookView>) => standingOf({ ...office, ...change }).word;
  expect(wordOf({})).toBe("on");
  expect(wordOf({ deliveries: [] })).toBe("on");
  expect(wordOf({ deliveries: [failed, taken], waiting: 3 })).toBe("failing");
  expect(wordOf({ deliveries: [taken, failed], waiting: 3 })).toBe("on");
  // What failed was dropped: nothing is wrong any more.
  expect(wordOf({ deliveries: [failed], waiting: 0 })).toBe("on");
  expect(wordOf({ deliveries: [taken], offSince: 1 })).toBe("off");
});

test("a fault is told with its status, once", () => {
  expect(faultText(failed)).toBe("it answered 503");
  expect(faultText({ status: 302, fault: "it redirects" })).toBe("302, it redirects");
  expect(faultText({ status: null, fault: "it did not answer in time" })).toBe("it did not answer in time");
  expect(testText({ ...taken, delivered: true })).toBe("It took the test: 204, after 31 ms.");
  expect(testText({ ...failed, delivered: false })).toBe("It did not take the test: it answered 503.");
});

test("what goes with a user is told as far as it was counted", () => {
  expect(goesText({ threads: 0, hasMore: false, messages: 0 })).toContain("No conversation");
  expect(goesText({ threads: 1, hasMore: false, messages: 1 })).toBe("1 conversation with 1 message");
  expect(goesText({ threads: 40, hasMore: false, messages: null })).toBe(
    "40 conversations, with all their messages",
  );
  expect(goesText({ threads: 100, hasMore: true, messages: null })).toBe(
    "More than 100 conversations, with all their messages",
  );
});
