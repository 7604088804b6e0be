import type { ChannelThread } from "../../protocol/threads.ts";

export type { HistoryItem as MessageView } from "../../protocol/history.ts";
export type { Step as StepView } from "../../protocol/lines.ts";
export type { ThreadState } from "../../protocol/threads.ts";
export type { User as UserView } from "../../protocol/user.ts";

/** What the operator API answers (src/operators/README.md), as far as the console shows it. */
export type Role = "admin" | "agent" | "auditor";

export interface Me {
  name: string;
  /** What visitors call the operator; absent: by name. */
  displayName?: string;
  /** Absent: all. */
  queues?: string[];
  role: Role;
  /** null: every channel, and the installation. */
  channels: string[] | null;
}

export interface ChannelView {
  slug: string;
  kind: "web" | "transport";
  publishableKey?: string;
  allowedOrigins?: string[];
  enabled: boolean;
  accessMode: "open" | "whitelist";
  agent: AgentView;
  /** Absent: nobody takes over. */
  handoff?: HandoffView;
  /** Absent: everything is kept for good. */
  retention?: RetentionView;
}

/** In days. */
export interface RetentionView {
  threadsDays?: number;
  anonymousDays?: number;
}

export interface HandoffView {
  enabled: boolean;
  waitSeconds?: number;
  message?: string;
  unavailable?: string;
  answerSeconds?: number;
  unanswered?: string;
  /** false: visitors are not asked how a person has helped. */
  rating?: boolean;
  hours?: { timeZone: string; week: Record<string, string[]>; holidays?: string[] };
  queues?: string[];
  /** Ready answers. */
  replies?: string[];
}

export interface AgentView {
  instructions?: string;
  model?: string;
  images?: boolean;
  files?: boolean;
  mcpServers?: Record<string, unknown>;
  maxOutputTokensPerRun?: number;
  maxTokensPerUserPerDay?: number;
  maxTokensPerDay?: number;
}

/** A place with documents of a channel, and how it is. */
export interface SourceView {
  name: string;
  url?: string;
  sitemap?: string;
  folder?: string;
  file?: string;
  every?: string;
  state: "new" | "reading" | "read" | "failed";
  pages: number;
  passages: number;
  readAt: number | null;
  dueAt: number | null;
  failed: number;
  failures: { url: string; why: string }[];
  fault: string | null;
}

/** What an operator noted for colleagues. */
export interface NoteView {
  id: string;
  by: string;
  text: string;
  at: number;
}

/** A change of who answers in a conversation. */
export interface ChangeView {
  at: number;
  how: string;
  by?: string;
  shownAs?: string;
  queue?: string;
  reason?: string;
}

/** Who answered when in a conversation, and what the visitor left. */
export interface ChangesView {
  items: ChangeView[];
  ratings: { at: number; score: number; comment?: string; by?: string }[];
  address?: string;
}

/** How the hand-offs of one operator in one queue went. */
export interface PeopleRowView {
  queue: string | null;
  operator: string | null;
  asked: number;
  taken: number;
  missed: number;
  unanswered: number;
  ended: number;
  waitMsP50: number | null;
  waitMsP90: number | null;
  tookMsP50: number | null;
  tookMsP90: number | null;
  ratings: number;
  csat: number | null;
}

/** A key that is told once. */
export type ChannelWithKeys = ChannelView & { secretKey?: string };

/** Counts its messages where one thread is read. */
export type ThreadView = ChannelThread & {
  messages?: number;
  /** Of the beginning of a long history; without its text for who may not read it. */
  summary?: { text?: string };
};

/** A thread in a list of several channels. */
export type PlacedThread = ThreadView & { channel: string };

export interface OperatorView {
  name: string;
  displayName?: string;
  picture?: string;
  queues?: string[];
  role: Role;
  channels: string[] | null;
}

export interface AuditView {
  at: number;
  operator: string;
  action: string;
  target: string;
  detail?: Record<string, unknown>;
}

export interface CapUse {
  limit: number;
  used: number;
}

/** The spending caps of today; null: there is none. */
export interface CapsView {
  installation: CapUse | null;
  address: { limit: number } | null;
  channels: ({ channel: string } & CapUse)[];
}

/** One UTC day. */
export interface DayView {
  day: string;
  visitors: number;
  messages: number;
  runs: Record<Outcome, number>;
  inputTokens: number;
  outputTokens: number;
  /** By currency; absent: no prices are known. */
  costs?: Record<string, number>;
  handoffs: number;
  waitMsP50: number | null;
  waitMsP90: number | null;
  thumbsUp: number;
  thumbsDown: number;
}

export const OUTCOMES = ["done", "failed", "cancelled", "expired", "superseded"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** An endpoint of a channel that is told what happens. */
export interface WebhookView {
  url: string;
  /** null: all of them. */
  events: string[] | null;
  waiting: number;
  /** Since when nothing is sent to it, because it answered 410. */
  offSince: number | null;
  /** The latest hundred, latest first. */
  deliveries: DeliveryView[];
}

export interface DeliveryView {
  id: string;
  event: string;
  at: number;
  attempt: number;
  /** null: it answered nothing. */
  status: number | null;
  /** null: it was taken. */
  fault: string | null;
  elapsedMs: number;
}
