import { fieldsOf } from "../service/fields.ts";
import type { ModelContext, RegisteredTool } from "./model-context.ts";
import type { ToolAnnotations } from "./tool.ts";

/**
 * The annotations with which a page registered its tools. The list of tools has only some of them: the browser's own
 * WebMCP leaves out `destructiveHint`, MCP-B's polyfill `consequentialHint` too. So registrations are watched from the
 * moment that the element's script runs.
 */
const marks = new WeakMap<ModelContext, Map<string, ToolAnnotations>>();

export function watchRegistrations(context: ModelContext | null): void {
  const register = context?.registerTool;
  if (context === null || register === undefined || marks.has(context)) return;
  const seen = new Map<string, ToolAnnotations>();
  marks.set(context, seen);
  context.registerTool = (tool, ...more) => {
    const { name, annotations } = fieldsOf(tool);
    const answer = register.call(context, tool, ...more);
    // Only if the tool was accepted: a second one of that name is refused, and must not replace the marks of the first.
    const note = () => void seen.set(String(name), marksOf(annotations));
    void Promise.resolve(answer).then(note, () => {});
    return answer;
  };
}

/** A listed tool's annotations: those of its registration, otherwise those of the list. */
export function annotationsOf(
  context: ModelContext | null,
  tool: RegisteredTool,
): ToolAnnotations | undefined {
  const seen = context === null ? undefined : marks.get(context)?.get(tool.name);
  const { annotations } = tool;
  if (seen !== undefined) return { ...annotations, ...seen };
  // Registered before the element's script ran, and the list may lack some of its annotations: unless the tool only
  // reads, it is treated as one that has consequences.
  if (annotations === undefined || annotations.readOnlyHint === true) return annotations;
  return { ...annotations, consequentialHint: true };
}

function marksOf(annotations: unknown): ToolAnnotations {
  const { readOnlyHint, destructiveHint, consequentialHint } = fieldsOf(annotations);
  return {
    ...(readOnlyHint === true ? { readOnlyHint } : {}),
    ...(destructiveHint === true ? { destructiveHint } : {}),
    ...(consequentialHint === true ? { consequentialHint } : {}),
  };
}
