import { isOpenAt, opensAt } from "../channels/hours.ts";
import type { Hours } from "../channels/hours.ts";

/** A channel's settings for people who take over, as people write them. */
export interface HandoffField {
  enabled: boolean;
  /** How long a visitor waits for a person before the assistant goes on. */
  waitSeconds?: number;
  /** What the assistant says when it asks for a person. */
  message?: string;
  /** What it says if nobody came. */
  unavailable?: string;
  /** How long a person who has taken a thread may leave the visitor without an answer, before it waits for another one. */
  answerSeconds?: number;
  /** What the visitor is told then. */
  unanswered?: string;
  /** false: visitors are not asked what they think of a hand-off that has ended. */
  rating?: boolean;
  /** When people are there; absent: always. */
  hours?: Hours;
  /** The names of operators' queues, of which a visitor or the model may ask for one. */
  queues?: string[];
  /** Ready answers that operators choose from. */
  replies?: string[];
}

/** The same settings, with all defaults filled in. */
export interface HandOff {
  waitMs: number;
  message: string;
  unavailable: string;
  answerMs: number;
  unanswered: string;
}

const WAIT_SECONDS = 600;
const MESSAGE = "I am handing you over to a person, who will answer you here.";
const UNAVAILABLE = "Nobody is available at the moment. I will go on helping you as well as I can.";

const ANSWER_SECONDS = 600;
const UNANSWERED = "Sorry that you had to wait. I am asking for a person again.";

/** Fills in the defaults, even for a channel that no longer allows hand-offs: threads that wait in it must end. */
export function handOffOf(field: HandoffField | undefined): HandOff {
  return {
    waitMs: (field?.waitSeconds ?? WAIT_SECONDS) * 1_000,
    message: field?.message ?? MESSAGE,
    unavailable: field?.unavailable ?? UNAVAILABLE,
    answerMs: (field?.answerSeconds ?? ANSWER_SECONDS) * 1_000,
    unanswered: field?.unanswered ?? UNANSWERED,
  };
}

export function allowsHandOff(channel: { handoff?: HandoffField } | null): boolean {
  return channel?.handoff?.enabled === true;
}

/** May a person be asked for now? Outside the channel's hours: when again; null: nobody knows, or never. */
export type PeopleNow = { type: "there" } | { type: "away"; againAtMs: number | null } | { type: "none" };

export function peopleNow(channel: { handoff?: HandoffField } | null, nowMs: number): PeopleNow {
  if (!allowsHandOff(channel)) return { type: "none" };
  const hours = channel?.handoff?.hours;
  if (hours === undefined || isOpenAt(hours, nowMs)) return { type: "there" };
  return { type: "away", againAtMs: opensAt(hours, nowMs) };
}
