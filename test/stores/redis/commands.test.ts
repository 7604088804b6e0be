// For src/stores/engines/redis/calls.ts
import { ErrorReply } from "redis";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import { createSend } from "../../../src/stores/engines/redis/calls.ts";

test.each([
  ["F8: ERR Protocol error: invalid bulk length", true],
  ["F8: ERR Protocol error: expected '$', got 'x'", true],
  ["LOADING Redis is loading the dataset in memory", true],
  ["ERR unknown command 'FUNCTION'", false],
  ["ERR Protocols are none of mine", false],
  ["WRONGTYPE Operation against a key holding the wrong kind of value", false],
])("an answer of Redis is an outage or a bug: %s", async (answer, isOutage) => {
  const error = new ErrorReply(answer.replace("F8: ", ""));
  const link = { send: () => Promise.reject(error), suspect() {} } as never;
  const send = createSend({ link, durability: "local", deadlineMs: 1_000 });
  const fault: unknown = await send("get", "k", ["GET", "k"], false).catch((thrown: unknown) => thrown);
  expect(fault instanceof StoreUnavailable).toBe(isOutage);
});
