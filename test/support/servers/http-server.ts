import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A server on a free port of 127.0.0.1 that answers with `answer`; its origin. Ends with the test, its connections too. */
export async function openHttpServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  // A cast: a server that listens on a port has such an address.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
