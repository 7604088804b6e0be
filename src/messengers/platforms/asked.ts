import { isRecord } from "../../is-record.ts";

const MOST_CHARS = 200;

/** The words in an answer that say what is wrong. */
export function words(body: unknown): string {
  if (!isRecord(body)) return "";
  // Microsoft's are in error_description: RFC 6749, section 5.2.
  const { description, error_description: described, error, message } = body;
  const inner = isRecord(error) ? error["message"] : error;
  const text = [description, described, inner, message].find((one) => typeof one === "string");
  return typeof text === "string" ? text.slice(0, MOST_CHARS) : "";
}
