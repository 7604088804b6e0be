import type { Line, StepLine } from "../../../machines/line.ts";
import { fieldsOf } from "./fields.ts";

/** Also false for a line of an unknown type. */
export function isLine(value: unknown): value is Line {
  const { type, text, tool, callId } = fieldsOf(value);
  switch (type) {
    case "delta":
      return typeof text === "string";
    case "step":
      return isStep(value);
    case "tool_call":
      return typeof tool === "string" && typeof callId === "string";
    case "done":
    case "error":
      return true;
    default:
      return false;
  }
}

/** A step has the same fields in a stream and in the history. */
export function isStep(value: unknown): value is Omit<StepLine, "type"> {
  const { id, phase, text } = fieldsOf(value);
  return (
    typeof id === "string" &&
    (phase === "running" || phase === "done" || phase === "failed") &&
    typeof text === "string"
  );
}
