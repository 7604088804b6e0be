import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { Secret } from "../../src/secret.ts";
import { createSender } from "../../src/webhooks/send.ts";
import type { Sender } from "../../src/webhooks/send.ts";
import { SECRET } from "./receiver.ts";

/** More than the connections that a receiver is given. */
const MANY = 100;

async function startServer(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function openSender(options: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const sender = createSender({ clock: systemClock, allowsPrivate: true, ...options });
  onTestFinished(() => sender.close());
  return sender;
}

const event = (nth: number, url: string) => ({
  url,
  id: `msg_${nth}`,
  body: "{}",
  secret: new Secret(SECRET),
});

test("a receiver that never ends its answers takes what it is sent all the same", async () => {
  const port = await startServer((_request, response) => response.writeHead(200).write("more will follow"));
  const sender = openSender();
  const sent = await Promise.all(
    Array.from({ length: MANY }, (_, nth) => sender.send(event(nth, `http://127.0.0.1:${port}/hook`))),
  );
  expect(sent.filter(({ status }) => status !== 200)).toEqual([]);
});
