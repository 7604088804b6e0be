import { onTestFinished } from "vitest";
import type { Usage } from "../../../machines/run.ts";
import type { Model, ModelRequest } from "../../../src/model.ts";

/** What the far end of a model does in one turn. At the end of a list it finishes in good form. */
export type FarAct =
  /** One network read, which brings these pieces of text. */
  | { type: "read"; texts: readonly string[] }
  | { type: "call"; name: string; arguments: string }
  /** What it reports at the end; without it none. */
  | { type: "usage"; usage: Usage }
  /** Waits until the test releases it. */
  | { type: "hold" }
  /** Instead of an answer, or of the rest of one: the connection is lost. */
  | { type: "lost" };
export type FarTurn = readonly FarAct[];

/** A model whose far end plays one turn for each request. */
export interface PlayedModel {
  model: Model;
  /** How many requests have come. */
  requests: () => number;
  /** How many of them were left before their answer was over. */
  left: () => number;
  /** Resolves when a turn waits at a hold. */
  held: () => Promise<void>;
  release: () => void;
}

export interface ModelImplementation {
  kind: Model["kind"];
  /** Null: the far end answers as it likes, and what must be played is skipped by name. Closed with the test. */
  play: ((turns: readonly FarTurn[]) => Promise<PlayedModel>) | null;
  /** A model that answers with text in more than one read, or with a call, and reports usage. Closed with the test. */
  answering: (what: "text" | "call") => Promise<{ model: Model; request: Partial<ModelRequest> }>;
}

export const read = (...texts: string[]): FarAct => ({ type: "read", texts });
export const hold: FarAct = { type: "hold" };
export const lost: FarAct = { type: "lost" };

export type Play = (...turns: FarTurn[]) => Promise<PlayedModel>;

/** Ends a model, and what belongs to it, with the test. */
export function closeWithTest(...parts: { close(): Promise<void> }[]): void {
  onTestFinished(async () => {
    for (const part of parts) await part.close();
  });
}
