// For src/client/create-client.ts
import { readFileSync } from "node:fs";
import { expect, expectTypeOf, test } from "vitest";
import type * as lines from "../../src/protocol/lines.ts";
import type * as client from "../../src/client/client.d.ts";
import type { createClient } from "../../src/client/create-client.ts";
import type { FeedLine } from "../../src/protocol/feed.ts";
import type { HistoryItem } from "../../src/protocol/history.ts";
import type { ThreadPage } from "../../src/protocol/threads.ts";

/** What the client declares is what the service says; the compiler is the judge of it (`npm run types`). */
test("a line of a reply has the fields that the service writes", () => {
  expectTypeOf<client.DeltaLine>().toEqualTypeOf<lines.DeltaLine>();
  expectTypeOf<client.StepLine>().toEqualTypeOf<lines.StepLine>();
  expectTypeOf<client.DoneLine>().toEqualTypeOf<lines.DoneLine>();
  expectTypeOf<client.ToolCallLine>().toEqualTypeOf<lines.ToolCallLine>();
  expectTypeOf<keyof client.ErrorLine>().toEqualTypeOf<keyof lines.ErrorLine>();
  // After `interrupted` the client reads on by itself.
  expectTypeOf<client.KnownErrorCode>().toEqualTypeOf<Exclude<lines.ErrorCode, "interrupted">>();
  expectTypeOf<client.Line["type"]>().toEqualTypeOf<lines.Line["type"] | "restart">();
});

test("history, lists and feeds have the fields that the service documents", () => {
  expectTypeOf<client.HistoryItem>().toEqualTypeOf<HistoryItem>();
  expectTypeOf<client.ThreadPage>().toEqualTypeOf<ThreadPage>();
  // A sign of life is for the client alone.
  type Fed = Exclude<FeedLine, { type: "ping" }>;
  expectTypeOf<client.FeedLine>().toExtend<Fed>();
  expectTypeOf<client.FeedLine["type"]>().toEqualTypeOf<Fed["type"]>();
  expectTypeOf<client.StateFeedLine>().toEqualTypeOf<Extract<Fed, { type: "state" }>>();
});

test("what the package declares is what it has", () => {
  expectTypeOf<typeof createClient>().toEqualTypeOf<(options: client.ClientOptions) => client.Client>();
});

test("each export and each field of it is told", () => {
  const declared = readFileSync(new URL("../../src/client/client.d.ts", import.meta.url), "utf8").split("\n");
  const isTold = (at: number) => declared[at - 1]?.trimEnd().endsWith("*/");
  const named = declared.flatMap((line, at) =>
    /^(export |  (readonly )?\w+\??[:(])/.test(line) ? [at] : [],
  );
  // The `type` of a line is told with the line.
  const untold = named.filter((at) => !isTold(at) && !declared[at]?.startsWith("  type: "));
  expect(named.length).toBeGreaterThan(80);
  expect(untold.map((at) => declared[at])).toEqual([]);
});
