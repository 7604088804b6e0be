import { modelContext } from "./model-context.ts";
import type { ModelContext, RegisteredTool } from "./model-context.ts";
import type { annotationsOf } from "./registered-marks.ts";
import { shapeOf } from "./tool.ts";
import type { Tool } from "./tool.ts";

/** The tools that this page registered. Tools of frames are left out: they belong to another site. */
export async function listPageTools(marksOf: typeof annotationsOf): Promise<Tool[]> {
  const context = modelContext();
  let registered: RegisteredTool[] = [];
  try {
    registered = (await context?.getTools?.()) ?? [];
  } catch {
    // Forbidden by permissions-policy: tools=(). The page has no tools then.
  }
  return registered
    .filter((tool) => tool.window === undefined || tool.window === window)
    .map((tool) => ({
      ...shapeOf(tool),
      annotations: marksOf(context, tool),
      inputSchema: parsedSchema(tool.inputSchema),
      source: "page",
      waitsForForm: waitsForForm(tool.name),
      execute: (args, options) => execute(context, tool, args, options),
    }));
}

async function execute(
  context: ModelContext | null,
  tool: RegisteredTool,
  args: Record<string, unknown>,
  options: { signal: AbortSignal },
): Promise<unknown> {
  if (context?.executeTool !== undefined) return await context.executeTool(tool, dual(args), options);
  if (context?.invokeTool !== undefined) return await context.invokeTool(tool.name, args);
  throw new Error("this browser cannot run page tools");
}

/**
 * One input for implementations that take an object and for those that take JSON: serialization ignores symbols, and a
 * conversion to string calls this one. Trying one form after the other could run a tool twice.
 */
function dual(args: Record<string, unknown>): object {
  return Object.defineProperty({ ...args }, Symbol.toPrimitive, { value: () => JSON.stringify(args) });
}

function parsedSchema(schema: unknown): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(schema);
  } catch {
    return undefined;
  }
}

/** Is the tool a form that does not submit itself? The call stays open until the visitor submits it. */
function waitsForForm(name: string): boolean {
  return [...document.querySelectorAll("form[toolname]:not([toolautosubmit])")].some(
    (form) => form.getAttribute("toolname") === name,
  );
}
