// For src/metrics/past-samples.ts
import { expect, test } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { PastSamples } from "../../src/metrics/past-samples.ts";
import { valueOf } from "./sample.ts";

const answered = { route: "/v1/messages", status: 200, ms: 1 };
const COUNT = 'chat_agent_request_seconds_count{route="/v1/messages",status="200"}';
const BUCKET = 'chat_agent_request_seconds_bucket{le="0.001",route="/v1/messages",status="200"}';

test("several processes' metrics as one: counts and levels are sums, and what each knows of all is told once", async () => {
  const [one, two] = [await createMetrics(), await createMetrics()];
  one.onAnswered(answered);
  two.onAnswered(answered);
  two.onAnswered({ ...answered, status: 429 });
  one.watch({
    openStreams: () => 3,
    threadsHeld: () => 1,
    repliesWaiting: () => 0,
    openFeeds: () => 0,
    modelNotes: () => [],
    lostLines: () => 0,
    waitingForPerson: async () => 5,
    webhooks: async () => [],
    messengers: async () => [],
    withPerson: async () => 6,
  });
  two.watch({
    openStreams: () => 4,
    threadsHeld: () => 0,
    repliesWaiting: () => 0,
    openFeeds: () => 0,
    modelNotes: () => [],
    lostLines: () => 0,
    waitingForPerson: async () => 5,
    webhooks: async () => [],
    messengers: async () => [],
    withPerson: async () => 6,
  });
  const text = await one.textOf([await one.sample(), await two.sample()]);
  expect(await valueOf(text, COUNT)).toBe(2);
  expect(await valueOf(text, BUCKET)).toBe(2);
  expect(await valueOf(text, 'chat_agent_refused_by_limit_total{route="/v1/messages"}')).toBe(1);
  expect(await valueOf(text, "chat_agent_open_streams")).toBe(7);
  // Each process tells the whole.
  expect(await valueOf(text, "chat_agent_waiting_for_person")).toBe(5);
  expect(await valueOf(text, "chat_agent_with_person")).toBe(6);
});

test("what ended processes counted stays in the sums, and their levels do not", async () => {
  const past = new PastSamples();
  for (let ended = 0; ended < 3; ended++) {
    const metrics = await createMetrics();
    metrics.onAnswered(answered);
    metrics.watch({
      openStreams: () => 1,
      threadsHeld: () => 1,
      repliesWaiting: () => 1,
      openFeeds: () => 0,
      modelNotes: () => [],
      lostLines: () => 0,
      waitingForPerson: async () => 0,
      webhooks: async () => [],
      messengers: async () => [],
      withPerson: async () => 0,
    });
    past.add(await metrics.sample());
  }
  const living = await createMetrics();
  living.onAnswered(answered);
  const text = await living.textOf([past.sample(), await living.sample()]);
  expect(await valueOf(text, COUNT)).toBe(4);
  expect(await valueOf(text, BUCKET)).toBe(4);
  expect(await valueOf(text, "chat_agent_open_streams")).toBeNull();
  expect(text.match(/^# TYPE chat_agent_request_seconds histogram$/gm)).toHaveLength(1);
});
