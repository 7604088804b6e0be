import { z } from "zod";
import { allowsHandOff } from "../domain/hand-off.ts";
import type { Channel } from "../domain/channel.ts";
import { Refusal } from "../domain/refusal.ts";

/** Why a person is asked for, in the caller's words: shown to operators. */
export const handOffReason = z
  .string()
  .max(1_000)
  .optional()
  .describe("Why, for the person who answers: at most 1,000 characters");

/** Throws Refusal("conflict") if the channel allows no hand-off. */
export function mustAllowHandOff(channel: Pick<Channel, "handoff"> | null): void {
  if (!allowsHandOff(channel)) throw new Refusal("conflict", "This channel has no hand-off");
}
