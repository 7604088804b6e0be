import { z } from "zod";
import type { DeltaLine, DoneLine, ErrorLine, Line, StepLine, ToolCallLine } from "../../../machines/line.ts";

/** The lines of a stream as schemas, for the API's description; machines/line.ts is what they describe. */
const tokens = z.int().min(0).exactOptional();

export const stepSchema = z.object({
  id: z.string().describe("A later step with the same id replaces the earlier one"),
  phase: z.enum(["running", "done", "failed"]),
  text: z.string().describe("Progress text in the visitor's language"),
});

const delta = z.object({
  type: z.literal("delta"),
  text: z.string().describe("A chunk of reply text to append"),
}) satisfies z.ZodType<DeltaLine>;

const step = z.object({ type: z.literal("step"), ...stepSchema.shape }) satisfies z.ZodType<StepLine>;

const toolCall = z.object({
  type: z.literal("tool_call"),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  callId: z.string(),
}) satisfies z.ZodType<ToolCallLine>;

const done = z.object({
  type: z.literal("done"),
  elapsedMs: z.int().min(0),
  inputTokens: tokens,
  outputTokens: tokens,
  totalInputTokens: tokens,
  totalOutputTokens: tokens,
  finishReason: z
    .string()
    .exactOptional()
    .describe("Only where the model did not end of itself: length, content_filter, …"),
  handledBy: z
    .literal("person")
    .exactOptional()
    .describe("A person answers, or is waited for: no word of the model follows"),
}) satisfies z.ZodType<DoneLine>;

const error = z.object({
  type: z.literal("error"),
  message: z.string(),
  code: z
    .enum(["task_failed", "cancelled", "expired", "superseded", "interrupted", "deleted", "budget_exceeded"])
    .exactOptional()
    .describe("Absent: a fault on the server side"),
  hint: z.string().max(400).exactOptional().describe("The run's last tool answer; only with task_failed"),
}) satisfies z.ZodType<ErrorLine>;

export const serverLine = z.discriminatedUnion("type", [delta, step, done, error]);
export const widgetLine = z.discriminatedUnion("type", [
  delta,
  step,
  toolCall,
  done,
  error,
]) satisfies z.ZodType<Line>;
