import { ErrorReply } from "redis";
import { expect, test } from "vitest";
import { StoreUnavailable } from "../../src/store.ts";
import { createCommands } from "../../src/stores/redis/commands.ts";

test.each([
  ["F8: ERR Protocol error: invalid bulk length", true],
  ["F8: ERR Protocol error: expected '$', got 'x'", true],
  ["LOADING Redis is loading the dataset in memory", true],
  ["ERR unknown command 'FUNCTION'", false],
  ["ERR Protocols are none of mine", false],
  ["WRONGTYPE Operation against a key holding the wrong kind of value", false],
])("an answer of Redis is an outage or a bug: %s", async (answer, isOutage) => {
  const error = new ErrorReply(answer.replace("F8: ", ""));
  const commands = createCommands({
    link: { send: () => Promise.reject(error), suspect() {}, close: async () => {} } as never,
    durability: "local",
  });
  const fault: unknown = await commands.read("k", "GET", "k").catch((thrown: unknown) => thrown);
  expect(fault instanceof StoreUnavailable).toBe(isOutage);
});
