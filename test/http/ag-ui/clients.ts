import * as agUi0 from "ag-ui-client-0";
import * as agUi1 from "@ag-ui/client";
import { ORIGIN } from "../../scenarios/houses.ts";
import type { FrontEndOptions } from "../front-ends/client-options.ts";

/** The real clients of AG-UI, before and since 1.0. */
export interface Client {
  name: string;
  open(options: ClientOptions): ClientChat;
}

export interface ClientOptions extends FrontEndOptions<ShownMessage> {
  context?: { description: string; value: string }[];
}

/** A message as the client has it. */
export interface ShownMessage {
  id: string;
  role: string;
  content?: unknown;
  name?: string;
  metadata?: unknown;
  toolCalls?: { id: string; function: { name: string; arguments: string } }[];
  toolCallId?: string;
  error?: string;
}

export interface ClientChat {
  readonly messages: ShownMessage[];
  /** Rejects where the client does. */
  send(text: string): Promise<void>;
  /** Once more what it has, as it is. */
  again(): Promise<void>;
  stop(): void;
  /** Requests so far. */
  readonly asked: number;
  /** What the last run ended with. */
  readonly finished: { outcome?: unknown; result?: unknown; usage?: unknown } | null;
  readonly failed: { message: string; code?: string } | null;
}

/** What the two have in common, as far as it is used here. */
interface Sdk {
  HttpAgent: new (options: {
    url: string;
    threadId: string;
    headers: Record<string, string>;
    fetch: typeof fetch;
    initialMessages: ShownMessage[];
  }) => Agent;
}

interface Agent {
  messages: ShownMessage[];
  addMessage(message: ShownMessage): void;
  runAgent(
    options: { tools: object[]; context: object[] },
    subscriber: object,
  ): Promise<{ newMessages: ShownMessage[] }>;
  abortRun(): void;
}

function clientOf(name: string, { HttpAgent }: Sdk): Client {
  return {
    name,
    open({ url, token, threadId, messages = [], tools = {}, fetch: send = fetch, context = [] }) {
      let asked = 0;
      let said = 0;
      let finished: ClientChat["finished"] = null;
      let failed: ClientChat["failed"] = null;
      const agent = new HttpAgent({
        url: `${url}/v1/widget/ag-ui`,
        threadId,
        headers: { "x-visitor-token": token },
        fetch: (address, init) => {
          asked++;
          const given = init?.headers as Record<string, string>;
          return send(address, { ...init, headers: { ...given, origin: ORIGIN } });
        },
        initialMessages: messages,
      });
      const subscriber = {
        onRunFinishedEvent: ({ event }: { event: object }) => void (finished = event),
        onRunErrorEvent: ({ event }: { event: { message: string } }) => void (failed = event),
      };
      const catalog = Object.keys(tools).map((tool) => ({
        name: tool,
        description: tool,
        parameters: { type: "object", properties: {} },
      }));

      /** As front ends on this client do it: runs the calls of the messages that are new, and tells what came of them. */
      async function run(): Promise<void> {
        finished = null;
        failed = null;
        const { newMessages } = await agent.runAgent({ tools: catalog, context }, subscriber);
        const calls = newMessages.flatMap(({ toolCalls = [] }) => toolCalls);
        for (const { id, function: called } of calls) {
          const outcome = await use(called.name, JSON.parse(called.arguments));
          agent.addMessage({ id: `tool-${id}`, role: "tool", toolCallId: id, ...outcome });
        }
        if (calls.length > 0) await run();
      }

      async function use(tool: string, input: unknown) {
        try {
          return { content: String(await tools[tool]?.(input)) };
        } catch (error) {
          return { content: "", error: String(error) };
        }
      }

      return {
        get asked() {
          return asked;
        },
        get messages() {
          return agent.messages;
        },
        get finished() {
          return finished;
        },
        get failed() {
          return failed;
        },
        async send(text) {
          agent.addMessage({ id: `${threadId}-${++said}-${Date.now()}`, role: "user", content: text });
          await run();
        },
        again: run,
        stop: () => agent.abortRun(),
      };
    },
  };
}

// Casts: two versions of one package, whose types differ in what is not used here.
export const CLIENTS: readonly Client[] = [
  clientOf("@ag-ui/client 0.0.59", agUi0 as unknown as Sdk),
  clientOf("@ag-ui/client 1.0", agUi1 as unknown as Sdk),
];

/** What each side said, in order: the text that a message shows. */
export function textsOf(messages: readonly ShownMessage[]): string[] {
  const shown = messages.filter(({ role, content }) => ["user", "assistant"].includes(role) && content);
  return shown.map(({ content }) => String(content));
}
