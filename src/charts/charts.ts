import type { Line } from "../../machines/line.ts";
import { streamMachine } from "../../machines/stream.ts";
import { THREAD_CHART_VERSION, threadMachine } from "../../machines/thread.ts";
import type { ThreadEffect } from "../../machines/thread.ts";
import { threadSteps, visitorSteps } from "../../machines/versions.ts";
import { VISITOR_CHART_VERSION, visitorMachine } from "../../machines/visitor.ts";
import { createHost } from "./host.ts";
import { readThreadContext, readVisitorContext } from "./stored-context.ts";

/** One host for each chart; a host has no state between two decisions, so one is enough. */
export const threadHost = createHost<typeof threadMachine, Line, ThreadEffect>({
  machine: threadMachine,
  version: THREAD_CHART_VERSION,
  steps: threadSteps,
  readContext: readThreadContext,
});

export const visitorHost = createHost<typeof visitorMachine, never, never>({
  machine: visitorMachine,
  version: VISITOR_CHART_VERSION,
  steps: visitorSteps,
  readContext: readVisitorContext,
});

export const streamHost = createHost<typeof streamMachine, Line, never>({
  machine: streamMachine,
  // A stream lives in memory alone.
  version: 1,
  steps: [],
  readContext: () => ({}),
});

export type ThreadSnapshot = ReturnType<typeof threadHost.initial>;
export type VisitorSnapshot = ReturnType<typeof visitorHost.initial>;
