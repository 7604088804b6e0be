/**
 * The lines of a stream (the spec, Stream): one schema each, and what a reader is told of it. A stream is
 * `(delta | step)* terminal`: exactly one terminal line, and it is the last.
 *
 * A description is OpenAPI's; a comment is client.d.ts's, which takes the description where there is no comment.
 */
import { z } from "zod";

/** A chunk of the reply, to append to its text. Where a reply is cut into chunks means nothing. */
export const deltaLine = z.object({
  type: z.literal("delta"),
  /** One character or more. */
  text: z.string().describe("A chunk of reply text to append"),
});
export type DeltaLine = z.infer<typeof deltaLine>;

/** How far a step is: `running` comes when a tool is called, `done` or `failed` when that is over. */
export const stepPhase = z.enum(["running", "done", "failed"]);
export type StepPhase = z.infer<typeof stepPhase>;

/** A step as the history has it. */
export const step = z.object({
  /** The tool's name; `name#2`, `name#3` for later calls of the same tool in one run. */
  id: z.string().describe("A later step with the same id replaces the earlier one"),
  /** How far it is. */
  phase: stepPhase,
  /** One sentence for the user, in their language. */
  text: z.string().describe("Progress text in the visitor's language"),
});
export type Step = z.infer<typeof step>;

/** A document of the site that a reply rests on. */
export const source = z.object({
  /** Its title; its address where it has none. */
  title: z.string(),
  /** Where it is: an address, or the name of a file. */
  url: z.string(),
});
export type Source = z.infer<typeof source>;

/** A call of a tool that is made only once somebody approves it. */
export const approval = z.object({
  /** Under which it is approved. */
  callId: z.string(),
  /** Who is asked. */
  by: z.enum(["visitor", "operator"]),
  /** The tool's name, as its server has it. */
  tool: z.string(),
  /** What it would be called with. */
  arguments: z.record(z.string(), z.unknown()),
});
export type Approval = z.infer<typeof approval>;

/** Progress of a tool call; a later step of the same `id` takes its place. */
export const stepLine = z.object({
  type: z.literal("step"),
  ...step.shape,
  /** Only of a search in the site's documents: what the reply may rest on. */
  sources: z.array(source).exactOptional().describe("Only of a search in the site's documents"),
  /** Only while the call waits for approval. */
  approval: approval.exactOptional().describe("Only while the call waits for approval"),
});
export type StepLine = z.infer<typeof stepLine>;

/** The end of a stream of a run that was begun on a page: it waits for a tool of that page, which alone can answer. */
export const toolCallLine = z.object({
  type: z.literal("tool_call"),
  /** The tool's name, as the page offered it. */
  tool: z.string(),
  /** What the model wrote for the tool's schema. */
  arguments: z.record(z.string(), z.unknown()),
  /** Under which the page answers. */
  callId: z.string(),
});
export type ToolCallLine = z.infer<typeof toolCallLine>;

const tokens = z.int().min(0).exactOptional();

/** The end: the goal was reached. Tokens are those of all model calls together, and absent where the model's server counts none. */
export const doneLine = z.object({
  type: z.literal("done"),
  /** Milliseconds from the user's message on, with what a tool of a page took. */
  elapsedMs: z.int().min(0),
  /** Tokens that the models of this run read. */
  inputTokens: tokens,
  /** Tokens that the models of this run wrote. */
  outputTokens: tokens,
  /** Tokens read in the whole thread so far, this run included. */
  totalInputTokens: tokens,
  /** Tokens written in the whole thread so far, this run included. */
  totalOutputTokens: tokens,
  /** Only where the model did not end of itself: `length`, `content_filter`, or what else its server says. */
  finishReason: z
    .string()
    .exactOptional()
    .describe("Only where the model did not end of itself: length, content_filter, …"),
  /** Only where a person answers, or is waited for: what they say is in the history and in the feed. */
  handledBy: z
    .literal("person")
    .exactOptional()
    .describe("A person answers, or is waited for: no word of the model follows"),
});
export type DoneLine = z.infer<typeof doneLine>;

// Only `interrupted` says that the run goes on: re-attach to follow it.
export const errorCode = z.enum([
  "task_failed",
  "cancelled",
  "expired",
  "superseded",
  "interrupted",
  "deleted",
  "budget_exceeded",
]);
export type ErrorCode = z.infer<typeof errorCode>;

/**
 * Why a run failed: the model gave up, it was cancelled, its page did not answer in time, a later message ended its page
 * call, a token cap of the channel is used up, its thread or user was deleted.
 */
export const knownErrorCode = errorCode.exclude(["interrupted"]);

/** The end: it failed. What was said before stays said, and is in the history. */
export const errorLine = z.object({
  type: z.literal("error"),
  /** What happened, as a sentence in English. */
  message: z.string(),
  /** A {@link KnownErrorCode}; others may come one day. Absent: a fault on the service's side. */
  code: errorCode.exactOptional().describe("Absent: a fault on the server side"),
  /** The run's last tool answer, at most 400 characters; only with `task_failed`. */
  hint: z.string().max(400).exactOptional().describe("The run's last tool answer; only with task_failed"),
});
export type ErrorLine = z.infer<typeof errorLine>;

/** The last line of a reply; there is exactly one. */
export const terminalLine = z.discriminatedUnion("type", [doneLine, errorLine, toolCallLine]);
export type TerminalLine = z.infer<typeof terminalLine>;

export const progressLine = z.discriminatedUnion("type", [deltaLine, stepLine]);
export type ProgressLine = z.infer<typeof progressLine>;

/** A line of a stream on the widget API. */
export const widgetLine = z.discriminatedUnion("type", [
  ...progressLine.options,
  toolCallLine,
  doneLine,
  errorLine,
]);
export type Line = z.infer<typeof widgetLine>;

/** On the server API there is no page whose tools could be called. */
export const serverLine = z.discriminatedUnion("type", [...progressLine.options, doneLine, errorLine]);

/**
 * The text that was told before is void, and is told again from its beginning. Rare: where a run goes on in other words
 * after a crash of the service.
 */
export const restartLine = z.object({ type: z.literal("restart") });

/** A line of a reply. Lines of another `type` may come one day: pass over them. */
export const clientLine = z.discriminatedUnion("type", [
  ...progressLine.options,
  restartLine,
  ...terminalLine.options,
]);
