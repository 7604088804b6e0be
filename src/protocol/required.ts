// Made of the schemas beside it by `npm run protocol`: what a value must have, at least.

export const LINES = [
  { type: ["delta"], text: "string" },
  { type: ["step"], id: "string", phase: ["running", "done", "failed"], text: "string" },
  { type: ["tool_call"], tool: "string", arguments: "object", callId: "string" },
  { type: ["done"], elapsedMs: "number" },
  { type: ["error"], message: "string" },
] as const;

export const FEED_LINES = [
  {
    type: ["message"],
    item: { id: "string", role: ["user", "assistant"], content: "string", createdAt: "number" },
  },
  { type: ["state"], state: ["idle"] },
  { type: ["state"], state: ["running", "awaiting"], runId: "string" },
  { type: ["state"], state: ["waiting_for_person"], waitingSince: "number" },
  { type: ["state"], state: ["with_person"], with: "string" },
  { type: ["reset"] },
  { type: ["deleted"] },
  { type: ["typing"], name: "string" },
  { type: ["ping"] },
] as const;
