import type { ThreadView } from "../service/views.ts";

/**
 * Who talks in a conversation, as the console calls them: by name, by place; of a backend's conversation by its own name for it.
 * `isWeb`: of a web channel, whose conversations have names that the service made.
 */
export function whoOf({ displayName, page, threadId }: ThreadView, { isWeb }: { isWeb: boolean }): string {
  if (displayName !== undefined) return displayName;
  if (page !== undefined) return `Visitor from ${page}`;
  return isWeb ? "Visitor" : shortened(threadId);
}

export function shortened(id: string): string {
  return id.length > 24 ? `${id.slice(0, 16)}…` : id;
}
