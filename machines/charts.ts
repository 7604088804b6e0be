import type { AnyStateMachine } from "xstate";
import { streamMachine } from "./stream.ts";
import { tabMachine } from "./tab.ts";
import { threadMachine } from "./thread.ts";
import { visitorMachine } from "./visitor.ts";

/** Every chart by its name: whatever draws, prints or copies one takes it from here. */
export const CHARTS = {
  thread: threadMachine,
  visitor: visitorMachine,
  stream: streamMachine,
  tab: tabMachine,
} satisfies Record<string, AnyStateMachine>;
