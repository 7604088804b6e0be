import * as ai7 from "ai";
import * as ai5 from "ai-5";
import * as ai6 from "ai-6";
import { ORIGIN } from "../../scenarios/houses.ts";
import type { FrontEndOptions } from "../front-ends/client-options.ts";

/** The real clients of the AI SDK, without React: what useChat is made of. */
export interface Client {
  name: string;
  open(options: ClientOptions): ClientChat;
}

export interface ClientOptions extends FrontEndOptions<ShownMessage> {
  /** Beside what the client sends of itself. */
  body?: Record<string, unknown>;
}

/** A message as the client shows it. */
export interface ShownMessage {
  id: string;
  role: string;
  parts: ShownPart[];
  metadata?: unknown;
}

export interface ShownPart {
  type: string;
  id?: string;
  text?: string;
  data?: unknown;
  state?: string;
  toolCallId?: string;
  output?: unknown;
  approval?: { id: string };
}

export interface ClientChat {
  readonly messages: ShownMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  send(text: string): Promise<void>;
  regenerate(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
  /** Answers the call that the last message asks approval for; only since version 6. */
  approve(approved: boolean): Promise<void>;
  /** Requests so far, by method and path. */
  readonly asked: string[];
}

/** What the three majors have in common, as far as it is used here. */
interface Sdk {
  AbstractChat: new (init: never) => {
    messages: unknown;
    status: string;
    error: Error | undefined;
    sendMessage(message: { text: string }): Promise<void>;
    regenerate(): Promise<void>;
    resumeStream(): Promise<void>;
    stop(): Promise<void>;
    addToolOutput(output: never): unknown;
    addToolApprovalResponse?(answer: { id: string; approved: boolean }): Promise<void> | void;
  };
  DefaultChatTransport: new (options: never) => unknown;
  lastAssistantMessageIsCompleteWithToolCalls: (chat: never) => boolean;
  lastAssistantMessageIsCompleteWithApprovalResponses?: (chat: never) => boolean;
}

function clientOf(name: string, sdk: Sdk): Client {
  return {
    name,
    open({ url, token, threadId, messages = [], tools = {}, fetch: send = fetch, body }) {
      const asked: string[] = [];
      const transport = {
        api: `${url}/v1/widget/ai-sdk/chat`,
        headers: { "x-visitor-token": token },
        body,
        fetch: (
          address: string,
          init: Omit<RequestInit, "headers"> & { headers?: Record<string, string> },
        ) => {
          asked.push(`${init.method ?? "GET"} ${new URL(address).pathname.replace(threadId, "ID")}`);
          return send(address, { ...init, headers: { ...init.headers, origin: ORIGIN } });
        },
      };
      const state = {
        status: "ready",
        error: undefined,
        messages: [...messages],
        pushMessage(message: ShownMessage) {
          this.messages = [...this.messages, message];
        },
        popMessage() {
          this.messages = this.messages.slice(0, -1);
        },
        replaceMessage(at: number, message: ShownMessage) {
          this.messages = this.messages.with(at, structuredClone(message));
        },
        snapshot: <Value>(value: Value): Value => structuredClone(value),
      };
      const init = {
        id: threadId,
        state,
        // Casts: three versions of one package, whose types differ in what is not used here.
        transport: new sdk.DefaultChatTransport(transport as never),
        sendAutomaticallyWhen: (chat: never) =>
          sdk.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          sdk.lastAssistantMessageIsCompleteWithApprovalResponses?.(chat) === true,
        onToolCall({ toolCall }: { toolCall: { toolName: string; toolCallId: string; input: unknown } }) {
          const { toolName: tool, toolCallId, input } = toolCall;
          void use(tool, input).then((outcome) =>
            chat.addToolOutput({ tool, toolCallId, ...outcome } as never),
          );
        },
      };
      async function use(tool: string, input: unknown) {
        try {
          return { output: await tools[tool]?.(input) };
        } catch (error) {
          return { state: "output-error", errorText: String(error) };
        }
      }
      const chat = new sdk.AbstractChat(init as never);
      return {
        asked,
        get messages() {
          return state.messages;
        },
        get status() {
          return chat.status;
        },
        get error() {
          return chat.error;
        },
        send: (text) => chat.sendMessage({ text }),
        regenerate: () => chat.regenerate(),
        resume: () => chat.resumeStream(),
        async approve(approved) {
          const asked = state.messages.at(-1)?.parts.findLast((part) => part.state === "approval-requested");
          await chat.addToolApprovalResponse?.({ id: asked?.approval?.id ?? "", approved });
        },
        stop: () => chat.stop(),
      };
    },
  };
}

// Casts, as above.
export const CLIENTS: readonly Client[] = [
  clientOf("ai 5", ai5 as unknown as Sdk),
  clientOf("ai 6", ai6 as unknown as Sdk),
  clientOf("ai 7", ai7 as unknown as Sdk),
];

/** All text of a message, as it is read. */
export function textOf(message: ShownMessage | undefined): string {
  return message?.parts.map(({ type, text = "" }) => (type === "text" ? text : "")).join("") ?? "";
}
