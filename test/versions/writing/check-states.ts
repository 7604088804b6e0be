/**
 * What must be somewhere in the records, as text: a conversation that did not come to where it was meant to leaves a hole
 * that nobody would notice.
 */
const MUST_HOLD: Record<string, RegExp> = {
  "thinking at the first attempt": /"value":\{"running":"thinking"\}[^\n]*?"attempt":1/,
  "thinking at the second attempt": /"value":\{"running":"thinking"\}[^\n]*?"attempt":2/,
  "thinking at the third attempt": /"value":\{"running":"thinking"\}[^\n]*?"attempt":3/,
  "using a server's tool": /"value":\{"running":"usingServerTool"\}/,
  "waiting for a page's tool": /"value":"awaitingPageTool"/,
  "at rest": /"value":"idle"/,
  "a missed call": /"misses":1/,
  "a deadline": /"deadlineMs":\d/,
  "several calls left": /"calls":\[\{"callId":[^\]]*\},\{"callId"/,
  "a call that may be repeated": /"repeatable":true/,
  "an answered page call": /"answered":\{"callId"/,
  "a run with text in parts": /"streamFrom"[^\n]*"kept":\{"parts":1/,
  "a line with text in parts": /"text":"[^"]*","kept":\d/,
  "a done run": /"outcome":"done"/,
  "a failed run": /"outcome":"failed"/,
  "a cancelled run": /"outcome":"cancelled"/,
  "an expired run": /"outcome":"expired"/,
  "a superseded run": /"outcome":"superseded"/,
  "a failed task": /"code":"task_failed"/,
  "a spent budget": /"code":"budget_exceeded"/,
  "a waiting message of a trace": /"traceparent":"00-/,
  "an anonymous token": /"valid":"anonymous"/,
  "an identified token": /"valid":"identified"/,
  "waiting for a person": /"value":"waiting_for_person"/,
  "with a person": /"value":"with_person"/,
  "asked by the model": /"askedBy":"model"/,
  "asked by a visitor": /"askedBy":"visitor"/,
  "asked by a transport": /"askedBy":"transport"/,
  "taken unasked": /"askedBy":null/,
  "a summary of the model": /"summary":"/,
  "a message that waits for a person": /"handledBy":"person"/,
  "a person's message": /"author":\{"type":"person"/,
  "given back with a note": /"handedBack":\{"name":"ann","how":"returned","note":"/,
  "given back without": /"handedBack":\{"name":"ann","how":"closed","note":null/,
  "given back, and the model was told": /"handedBack":null/,
  "waiting for approval": /"value":\{"running":"awaitingApproval"\}/,
  "a branch": /"replaces":"3"/,
  "a rated reply": /"rating":"down"/,
  "a file": /"name":"receipt.csv"/,
  "words that nobody asked for": /Your parcel has arrived/,
  "a note": /Known for returns/,
};

/** Throws where something is missing. `records`: one JSON text a line; JSON that is text within it is looked into, too. */
export function checkStates(records: string[]): void {
  const text = records.join("\n").replaceAll('\\"', '"');
  const missing = Object.entries(MUST_HOLD).flatMap(([name, look]) => (look.test(text) ? [] : [name]));
  if (missing.length > 0) throw new Error(`The records do not hold: ${missing.join(", ")}`);
}
