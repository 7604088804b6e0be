import type { Model } from "../model.ts";

/** Asks a model one question, without tools or a conversation; resolves with its text. */
export async function ask(
  model: Model,
  { name, system, user }: { name: string; system: string; user: string },
  signal: AbortSignal,
): Promise<string> {
  const messages = [
    { role: "system" as const, content: system },
    { role: "user" as const, content: user },
  ];
  const request = { model: name, messages, tools: [], maxOutputTokens: null, traceparent: null };
  return (await model.stream(request, () => {}, signal)).text.trim();
}

/** JSON in a tag that its content cannot close. */
export function marked(tag: string, value: unknown): string {
  const json = JSON.stringify(value, null, 1).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
  return `<${tag}>\n${json}\n</${tag}>`;
}
