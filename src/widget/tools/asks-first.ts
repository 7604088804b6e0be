import type { ToolAnnotations } from "./tool.ts";

/** Which tools ask the visitor first: those marked as having consequences, all that write, all, none. */
export type ConfirmTools = "consequential" | "writes" | "all" | "none";

export function asksFirst(annotations: ToolAnnotations, confirmTools: ConfirmTools): boolean {
  switch (confirmTools) {
    case "all":
      return true;
    case "writes":
      return annotations.readOnlyHint !== true;
    case "consequential":
      return annotations.consequentialHint === true || annotations.destructiveHint === true;
    case "none":
      return false;
  }
}
