/** What programs do with the package's types: what must compile, and what must not. */

export const CLIENT_USE = `
import { createClient } from "chat-agent-service/client";
import type { Line } from "chat-agent-service/client";
const client = createClient({ baseUrl: "http://127.0.0.1", key: "k" });
export async function last(): Promise<Line> {
  for await (const line of client.send({ threadId: "t", userId: "u", text: "x" })) if (line.type === "delta") line.text.trim();
  // @ts-expect-error -- a message has a text
  client.send({ threadId: "t", userId: "u" });
  return client.send({ threadId: "t", userId: "u", text: "x" }).final;
}
`;

export const ELEMENT_USE = `
import { ChatAgent } from "chat-agent-service/element";
import type { ChatAgentEvents, ChatAgentTool } from "chat-agent-service/element";
const agent = document.createElement("chat-agent");
const tool: ChatAgentTool = { name: "add", execute: (args, { signal }) => (signal.aborted ? null : args["product"]) };
agent.registerTool(tool, { signal: new AbortController().signal });
agent.tools = [tool];
agent.context = { plan: "gold", orders: 3, isNew: false };
agent.strings = { welcome: "Ahoy!" };
agent.threadId = null;
agent.addEventListener("chat-agent:done", ({ detail }) => detail.elapsedMs.toFixed());
document.addEventListener("chat-agent:before-tool", ({ detail }) => detail.annotations.readOnlyHint === true);
window.addEventListener("chat-agent:line", ({ detail: { line } }) => line.type === "delta" && line.text.trim());
export const ready: ChatAgentEvents["ready"] = { version: agent.version };
export const found: ChatAgent | null = document.querySelector("chat-agent");
export const isOne = agent instanceof ChatAgent;
export const sent: Promise<void> = agent.send("Hi", { context: { plan: "gold" } });

// @ts-expect-error -- no such detail
agent.addEventListener("chat-agent:done", ({ detail }) => detail.nothing);
// @ts-expect-error -- no such event
agent.addEventListener("chat-agent:nothing", (event: CustomEvent) => event.detail);
// @ts-expect-error -- the map is flat
agent.context = { nested: {} };
// @ts-expect-error -- not to be set
agent.version = "1";
// @ts-expect-error -- no such method
agent.nothing();
// @ts-expect-error -- no such text
agent.strings = { nothing: "x" };
// @ts-expect-error -- nothing to call
agent.registerTool({ name: "add" });
// @ts-expect-error -- no such state
if (agent.state === "asleep") agent.hide();
`;

/** In TSX a name with a hyphen that nobody has declared is no error; a wrong value of a declared one is. */
export const REACT_USE = `
import { useEffect, useRef } from "react";
import type { ChatAgent, ChatAgentTool } from "chat-agent-service/element";
const tools: ChatAgentTool[] = [{ name: "add", execute: () => null }];
export function Page() {
  const ref = useRef<ChatAgent>(null);
  useEffect(() => void import("chat-agent-service/element"), []);
  useEffect(() => ref.current?.show(), []);
  return (
    <main title="Shop">
      <chat-agent ref={ref} key="chat" className="chat" publishable-key="pk_1" base-url="https://chat.example.com" open
        display="inline" theme="dark" feedback="off" confirm-tools="writes" max-chars={200} tool-timeout="30" tools={tools}
        context={{ plan: "gold" }} suggestions={["Hello"]} threadId={null} onClick={() => ref.current?.focus()}
        onchat-agent:done={(event) => event.detail.elapsedMs.toFixed()}>
        <span slot="header">Hi</span>
      </chat-agent>
      {/* @ts-expect-error -- no such attribute */}
      <chat-agent publishable-key="pk_1" nothing="x" />
      {/* @ts-expect-error -- no such value */}
      <chat-agent publishable-key="pk_1" display="round" />
      {/* @ts-expect-error -- no such value */}
      <chat-agent publishable-key="pk_1" confirm-tools="some" />
      {/* @ts-expect-error -- no such detail */}
      <chat-agent publishable-key="pk_1" onchat-agent:done={(event) => event.detail.nothing} />
      {/* @ts-expect-error -- React sets the property, which is a list */}
      <chat-agent publishable-key="pk_1" tools="page" />
      {/* @ts-expect-error -- without a key nobody can chat */}
      <chat-agent />
      {/* @ts-expect-error -- no such element: the others are still known */}
      <chat-agents />
    </main>
  );
}
`;

const vueFile = (body: string) => `<script setup lang="ts">
import { ref } from "vue";
import type { ChatAgent, ChatAgentEventMap, ChatAgentTool } from "chat-agent-service/element";
const agent = ref<ChatAgent | null>(null);
const tools: ChatAgentTool[] = [{ name: "add", execute: () => agent.value?.show() }];
const told = (event: ChatAgentEventMap["chat-agent:done"]) => event.detail.elapsedMs;
</script>
<template>
  ${body}
</template>
`;

export const VUE_USE = vueFile(`
  <chat-agent ref="agent" class="chat" publishable-key="pk_1" base-url="https://chat.example.com" display="inline"
    feedback="off" :max-chars="200" :tools="tools" :context="{ plan: 'gold' }" :open="true" @chat-agent:done="told" />
`);

/** Each fails by itself. */
export const VUE_MISUSES = [
  `nothing="x"`,
  `display="round"`,
  `confirm-tools="some"`,
  `:tools="5"`,
  `@chat-agent:done="(event) => event.detail.nothing"`,
].map((wrong) =>
  vueFile(`
  <!-- @vue-expect-error -->
  <chat-agent publishable-key="pk_1" ${wrong} @chat-agent:open="() => [agent, tools, told]" />
`),
);
