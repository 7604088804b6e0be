import { pino } from "pino";
import type { Turn } from "../../src/agent.ts";
import type { AgentSettings, Channel } from "../../src/domain/channels/channel.ts";
import type { Message, RunRecord, Speaker } from "../../src/domain/threads/message.ts";

export const silentLog = pino({ level: "silent" });

export const unknownSpeaker: Speaker = { displayName: null, page: null, customerContext: null };

export function newRun(run: Partial<RunRecord> = {}): RunRecord {
  return {
    runId: "run-1",
    api: "widget",
    userId: "user-1",
    speaker: unknownSpeaker,
    saidAtMs: 0,
    activeMs: 0,
    turns: [],
    lines: [],
    streamFrom: 0,
    terminal: null,
    answered: null,
    outcome: null,
    path: [],
    ...run,
  };
}

export function newTurn(turn: Partial<Turn> = {}): Turn {
  return { slug: "shop", run: newRun(), text: "Hello", before: [], catalog: [], traceparent: null, ...turn };
}

export function message(
  id: number,
  role: Message["role"],
  content: string,
  more: Partial<Message> = {},
): Message {
  return { id: String(id), role, content, createdAtMs: id, runId: `run-${id}`, ...more };
}

export function channelWith(agent: AgentSettings): Channel {
  return {
    slug: "shop",
    kind: "web",
    publishableKey: "pk_shop",
    secretKeyHash: "canary-secret-key-hash",
    allowedOrigins: ["https://canary-origin.example"],
    enabled: true,
    accessMode: "open",
    agent,
  };
}
