import { once } from "node:events";
import { createServer } from "node:http";
import { ConfigError } from "../config/config-error.ts";
import { messageOf } from "../errors.ts";
import type { Exposition } from "../http/metrics-route.ts";

/**
 * METRICS_PORT: the metrics on a port of their own, without a key: anyone who can reach the port can read them.
 * Rejects with ConfigError if the port is taken.
 */
export async function openMetricsPort(
  metrics: Exposition,
  { host, port }: { host: string; port: number },
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics" || request.method !== "GET") {
      response.writeHead(404).end();
      return;
    }
    metrics.text().then(
      (text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new ConfigError(`Cannot listen on METRICS_PORT ${port}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const address = server.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
