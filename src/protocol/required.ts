// Made of the schemas beside it by `npm run protocol`: what a value must have, at least.

export const LINES = [
  { type: ["delta"], text: "string" },
  { type: ["step"], id: "string", phase: ["running", "done", "failed"], text: "string" },
  { type: ["tool_call"], tool: "string", arguments: "object", callId: "string" },
  { type: ["done"], elapsedMs: "number" },
  { type: ["error"], message: "string" },
] as const;

export const STEP = { id: "string", phase: ["running", "done", "failed"], text: "string" } as const;
