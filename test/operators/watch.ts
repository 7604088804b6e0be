import { onTestFinished } from "vitest";
import type { Sight } from "../../src/operators/accounts/sight.ts";

/** A watch of a thread by the operator `admin`: everything that was told so far, as values and as text. */
export async function watch(url: string, slug: string, id: string) {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${url}/v1/operator/channels/${slug}/threads/${id}/watch`, {
    headers: { authorization: "Bearer op_admin" },
    signal: leaving.signal,
  });
  const told = { status: response.status, text: "", over: false };
  const sights = (): Sight[] =>
    told.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Sight);
  const states = () => sights().flatMap((sight) => (sight.type === "thread" ? [sight.thread.state] : []));
  const spoken = () =>
    sights()
      .flatMap((sight) => (sight.type === "said" ? sight.lines : []))
      .map((line) => (line.type === "delta" ? line.text : ` <${line.type}> `))
      .join("");
  void (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) told.text += chunk;
    told.over = true;
  })().catch(() => {});
  return { told, sights, states, spoken };
}
