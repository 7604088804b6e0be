import { request } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";

export interface CuttingProxy {
  url: string;
  /** How often a message was asked for whose first answer was torn. */
  repeats: () => number;
}

/**
 * Passes everything on to a service, and tears the connection where `cuts` says so of a request: once, behind the first
 * delta of the answer. `onRepeat` is called when that request has come again.
 */
export async function openCuttingProxy(
  serviceUrl: string,
  cuts: (body: string) => boolean,
  onRepeat: () => void,
): Promise<CuttingProxy> {
  let asked = 0;
  const origin = await openHttpServer((incoming, outgoing) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part);
      const body = Buffer.concat(parts);
      const isOurs = cuts(body.toString());
      if (isOurs) asked++;
      const isTorn = isOurs && asked === 1;
      if (isOurs && !isTorn) onRepeat();
      const { "accept-encoding": encoding, ...headers } = incoming.headers;
      const { method, url } = incoming;
      const options = { method, headers: isTorn || encoding === undefined ? headers : incoming.headers };
      const passed = request(`${serviceUrl}${url}`, options, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        let told = "";
        answer.on("data", (bytes: Buffer) => {
          if (isTorn) told += bytes.toString("latin1");
          const isEnough = told.includes('"delta"');
          outgoing.write(bytes, () => {
            if (isEnough) outgoing.destroy();
          });
        });
        answer.on("end", () => outgoing.end());
        answer.on("error", () => outgoing.destroy());
      });
      outgoing.on("close", () => passed.destroy());
      passed.on("error", () => outgoing.destroy());
      passed.end(body);
    })().catch(() => outgoing.destroy());
  });
  return { url: origin, repeats: () => Math.max(0, asked - 1) };
}
