import { modelContext } from "./model-context.ts";
import type { ModelContext, RegisteredTool } from "./model-context.ts";
import type { Tool } from "./tool.ts";

/** Tools of this very page; those of frames belong to somebody else. */
export async function listPageTools(): Promise<Tool[]> {
  const context = modelContext();
  let registered: RegisteredTool[] = [];
  try {
    registered = (await context?.getTools?.()) ?? [];
  } catch {
    // permissions-policy: tools=() forbids it; the page has no tools then.
  }
  return registered
    .filter((tool) => tool.window === undefined || tool.window === window)
    .map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      annotations: tool.annotations,
      inputSchema: parsedSchema(tool.inputSchema),
      source: "page",
      waitsForForm: waitsForForm(tool.name),
      run: (args, signal) => execute(context, tool, args, signal),
    }));
}

async function execute(
  context: ModelContext | null,
  tool: RegisteredTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  if (context?.executeTool !== undefined) return await context.executeTool(tool, dual(args), { signal });
  if (context?.invokeTool !== undefined) return await context.invokeTool(tool.name, args);
  throw new Error("this browser cannot run page tools");
}

/**
 * One input that is an object to those who take objects, and its JSON to those who take text: serialising ignores
 * symbols, a conversion to string uses it. Trying the one and then the other could run a tool twice.
 */
function dual(args: Record<string, unknown>): object {
  return Object.defineProperty({ ...args }, Symbol.toPrimitive, { value: () => JSON.stringify(args) });
}

function parsedSchema(schema: unknown): unknown {
  if (typeof schema !== "string") return schema;
  try {
    return JSON.parse(schema) as unknown;
  } catch {
    return undefined;
  }
}

/** A form with a tool's name that does not submit itself: the call stays open until the visitor submits. */
function waitsForForm(name: string): boolean {
  return [...document.querySelectorAll("form[toolname]:not([toolautosubmit])")].some(
    (form) => form.getAttribute("toolname") === name,
  );
}
