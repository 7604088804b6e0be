import type { AgentView, ChannelView, HandoffView } from "../service/views.ts";

/** A channel's settings as fields of a form hold them: texts and marks. */
export interface ChannelDraft {
  enabled: boolean;
  accessMode: "open" | "whitelist";
  /** One a line. */
  origins: string;
  instructions: string;
  model: string;
  images: boolean;
  files: boolean;
  maxOutputTokensPerRun: string;
  maxTokensPerUserPerDay: string;
  maxTokensPerDay: string;
  handsOff: boolean;
  waitSeconds: string;
  handoffMessage: string;
  unavailable: string;
  answerSeconds: string;
  unanswered: string;
  /** One a line. */
  queues: string;
  asksRating: boolean;
  timeZone: string;
  /** A day a line, as `mon 09:00-12:00 13:00-17:30`; empty: somebody is always there. */
  week: string;
  /** A day a line, as `2026-12-25`. */
  holidays: string;
  /** Ready answers; empty ones are left out. */
  replies: readonly string[];
  /** Days; empty: kept for good. */
  threadsDays: string;
  anonymousDays: string;
}

const CAPS = ["maxOutputTokensPerRun", "maxTokensPerUserPerDay", "maxTokensPerDay"] as const;

export function draftOf({
  enabled,
  accessMode,
  allowedOrigins = [],
  agent,
  handoff,
  retention = {},
}: ChannelView): ChannelDraft {
  const numberText = (value: number | undefined) => (value === undefined ? "" : String(value));
  return {
    enabled,
    accessMode,
    origins: allowedOrigins.join("\n"),
    instructions: agent.instructions ?? "",
    model: agent.model ?? "",
    images: agent.images ?? false,
    files: agent.files ?? true,
    maxOutputTokensPerRun: numberText(agent.maxOutputTokensPerRun),
    maxTokensPerUserPerDay: numberText(agent.maxTokensPerUserPerDay),
    maxTokensPerDay: numberText(agent.maxTokensPerDay),
    handsOff: handoff?.enabled ?? false,
    waitSeconds: numberText(handoff?.waitSeconds),
    handoffMessage: handoff?.message ?? "",
    unavailable: handoff?.unavailable ?? "",
    answerSeconds: numberText(handoff?.answerSeconds),
    unanswered: handoff?.unanswered ?? "",
    queues: (handoff?.queues ?? []).join("\n"),
    asksRating: handoff?.rating !== false,
    timeZone: handoff?.hours?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    week: weekText(handoff?.hours?.week ?? {}),
    holidays: (handoff?.hours?.holidays ?? []).join("\n"),
    replies: handoff?.replies ?? [],
    threadsDays: numberText(retention.threadsDays),
    anonymousDays: numberText(retention.anonymousDays),
  };
}

/** What a PATCH writes: the fields that differ alone, so that what others change meanwhile stays. Null: nothing differs. */
export function changeOf(channel: ChannelView, draft: ChannelDraft): Record<string, unknown> | null {
  const before = draftOf(channel);
  const agent: Record<string, unknown> = {};
  for (const name of ["instructions", "model"] as const)
    if (draft[name] !== before[name]) agent[name] = draft[name] === "" ? null : draft[name];
  if (draft.images !== before.images) agent["images"] = draft.images;
  if (draft.files !== before.files) agent["files"] = draft.files;
  for (const name of CAPS)
    if (draft[name] !== before[name]) agent[name] = draft[name] === "" ? null : Number(draft[name]);
  const change = {
    ...(draft.enabled === before.enabled ? {} : { enabled: draft.enabled }),
    ...(draft.accessMode === before.accessMode ? {} : { accessMode: draft.accessMode }),
    ...(sameLines(draft.origins, before.origins) ? {} : { allowedOrigins: linesOf(draft.origins) }),
    ...(isSameHandOff(draft, before) ? {} : { handoff: handoffOf(channel, draft) }),
    ...(DAYS.every((name) => draft[name] === before[name]) ? {} : { retention: retentionOf(draft) }),
    // A cast: each value was set by its own field above.
    ...(Object.keys(agent).length === 0 ? {} : { agent: agent as Partial<AgentView> }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

const DAYS = ["threadsDays", "anonymousDays"] as const;

/** Written whole: what is left out is kept for good. */
function retentionOf(draft: ChannelDraft): Record<string, number> {
  const set = DAYS.filter((name) => draft[name] !== "");
  return Object.fromEntries(set.map((name) => [name, Number(draft[name])]));
}

const HANDOFF = [
  "handsOff",
  "waitSeconds",
  "handoffMessage",
  "unavailable",
  "answerSeconds",
  "unanswered",
  "asksRating",
  "timeZone",
  "week",
  "holidays",
] as const;

const DAY_NAMES = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

function weekText(week: Record<string, string[]>): string {
  return DAY_NAMES.flatMap((day) => {
    const ranges = week[day] ?? [];
    return ranges.length === 0 ? [] : [`${day} ${ranges.join(" ")}`];
  }).join("\n");
}

/** What is no day is sent as it is written: the service says what is wrong with it. */
function hoursOf({ timeZone, week, holidays }: ChannelDraft): Pick<HandoffView, "hours"> {
  const lines = week.split("\n").map((line) => line.trim().split(/[\s,]+/));
  const days = lines.filter(([day = ""]) => day !== "");
  if (days.length === 0) return {};
  const free = linesOf(holidays);
  return {
    hours: {
      timeZone: timeZone.trim(),
      week: Object.fromEntries(days.map(([day = "", ...ranges]) => [day.toLowerCase(), ranges])),
      ...(free.length === 0 ? {} : { holidays: free }),
    },
  };
}

function isSameHandOff(draft: ChannelDraft, before: ChannelDraft): boolean {
  const isSame =
    HANDOFF.every((name) => draft[name] === before[name]) && queuesOf(draft).join("\n") === before.queues;
  return isSame && JSON.stringify(written(draft.replies)) === JSON.stringify(written(before.replies));
}

/** Each once. A comma may be part of a name. */
function queuesOf({ queues }: ChannelDraft): string[] {
  const names = queues.split("\n").map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== "");
}

/** Line breaks within an answer are its own. */
function written(replies: readonly string[]): string[] {
  return replies.map((reply) => reply.trim()).filter((reply) => reply !== "");
}

/** Written whole; what the form does not show stays. */
function handoffOf({ handoff }: ChannelView, draft: ChannelDraft): HandoffView {
  const {
    waitSeconds: _,
    message: _message,
    unavailable: _unavailable,
    answerSeconds: _answerSeconds,
    unanswered: _unanswered,
    queues: _queues,
    replies: _replies,
    rating: _rating,
    hours: _hours,
    ...rest
  } = handoff ?? { enabled: false };
  const replies = written(draft.replies);
  const queues = queuesOf(draft);
  return {
    ...rest,
    enabled: draft.handsOff,
    ...(draft.waitSeconds === "" ? {} : { waitSeconds: Number(draft.waitSeconds) }),
    ...(draft.handoffMessage === "" ? {} : { message: draft.handoffMessage }),
    ...(draft.unavailable === "" ? {} : { unavailable: draft.unavailable }),
    ...(draft.answerSeconds === "" ? {} : { answerSeconds: Number(draft.answerSeconds) }),
    ...(draft.unanswered === "" ? {} : { unanswered: draft.unanswered }),
    ...(queues.length === 0 ? {} : { queues }),
    ...(draft.asksRating ? {} : { rating: false }),
    ...hoursOf(draft),
    ...(replies.length === 0 ? {} : { replies }),
  };
}

export function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function sameLines(one: string, other: string): boolean {
  return linesOf(one).join("\n") === linesOf(other).join("\n");
}
