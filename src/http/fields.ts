import { z } from "zod";
import { Refusal } from "../domain/refusal.ts";

/** Fields that several bodies have. Lengths are UTF-16 code units (contract, Characters). */

/** An id from a caller: any Unicode but control characters. */
export const callerId = z
  .string()
  .min(1)
  .max(256)
  .regex(/^\P{Cc}*$/u);

/** A thread's id from a page: what is no thread of the visitor is 404, not 422. */
export const widgetThreadId = z.string().min(1);

export const messageText = z.string().min(1);

/** Pathname and search of the page; over 512 it is outside the schema (contract, Characters). */
export const page = z.string().max(512);

export const channelSlug = z.string();

/** Throws Refusal("too-large") where a text or a value's JSON is over a character limit. */
export function mustFit(value: unknown, limitChars: number): void {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > limitChars) throw new Refusal("too-large");
}
