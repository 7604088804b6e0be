// For src/models/reply/finish-reasons.ts
import { expect, test } from "vitest";
import { readEnd } from "../../../src/models/reply/finish-reasons.ts";

test.each([
  ["stop", "stop"],
  ["STOP", "stop"],
  ["end_turn", "stop"],
  ["eos", "stop"],
  ["MAX_TOKENS", "length"],
  ["model_length", "length"],
  ["tool_use", "tool_calls"],
  ["SAFETY", "content_filter"],
  ["sensitive", "content_filter"],
])("B2: the end %s is the API's %s", (written, reason) => {
  expect(readEnd(written)).toEqual({ reason, hasFailed: false });
});

test.each([
  "error",
  "overloaded_error",
  "OVERLOADED",
  "engine_overloaded_error",
  "insufficient_system_resource",
  "MALFORMED_FUNCTION_CALL",
  "rate_limit_exceeded",
  "upstream_timeout",
  "timed_out",
  "service_unavailable",
  "internal_server_error",
  "RuntimeError",
  "abort",
  "cancelled",
])("B2: the end %s is a failure", (written) => {
  expect(readEnd(written).hasFailed).toBe(true);
});

test.each(["other", "LANGUAGE", "repetition", "1", "it ended, without an error", `error${"x".repeat(64)}`])(
  "B2: the unknown end %j is an end, and stays as it is written",
  (written) => {
    expect(readEnd(written)).toEqual({ reason: written, hasFailed: false });
  },
);
